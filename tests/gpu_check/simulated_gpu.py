#!/usr/bin/env python3
"""Stands for loaderscope on a machine with a GPU: the program in LOADERSCOPE runs with a simulated GPU instead."""
import json
import os
import subprocess
import sys

COSTS = {"gpu-decode": "45us", "gpu-augment": "1us"}  # per sample
words, real = sys.argv[1:], os.environ["LOADERSCOPE"]
if "cuda" in words:
    words[words.index("cuda")] = "sim"
    given = " ".join(words)
    for stage, cost in COSTS.items():
        if f"{stage}=" not in given:
            words += ["--cost", f"{stage}={cost}"]
if words[0] == "list" and "--json" in words:
    families = json.loads(subprocess.run([real, *words], check=True, capture_output=True).stdout)
    for row in families[0]["rows"]:
        row.update(available=True)
        row.pop("reason", None)
    print(json.dumps(families))
else:
    os.execv(real, [real, *words])
