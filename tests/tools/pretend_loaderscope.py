#!/usr/bin/python3 -IS
"""A loaderscope for the tests of scripts/gpu-check: answers as a sound machine does; PRETEND names what is wrong."""
import json, os, signal, sys, time
words, wrong = sys.argv[1:], os.environ.get("PRETEND", "")
value = lambda flag: words[words.index(flag) + 1]

def family(name, *rows):
    return [{"family": name, "flag": "", "rows": [{"name": row, "help": ".", "available": True} for row in rows]}]

def devices():
    answer = family("device", "cuda", "sim")
    if wrong == "no GPU":
        answer[0]["rows"][0].update(available=False, reason="no CUDA driver; install one.")
    return answer

def probe():
    if wrong == "probe crashes":
        os.kill(os.getpid(), signal.SIGSEGV)
    if wrong == "other schema":
        return {"schema": "loaderscope.probe/2"}
    speed = 0.96 if wrong == "slow link" else 0.98
    return {"schema": "loaderscope.probe/1", "device": {"name": "Pretend"},
            "link": [{"memory": memory, "copy": copy, "bytes": size,
                      "bytes_per_s": 1e10 * (speed if copy != "sync" else 0.5), "bare_bytes_per_s": 1e10}
                     for memory in ("pageable", "pinned-slots") for copy in ("sync", "async")
                     for size in (65536, 268435456)]}

def kernels():
    # 0.7 s of the window of 1 s that begins at 3 s, one of them twice; and one outside.
    covered = 680 if wrong == "busy apart" else 700
    spans = [(2900, 2999), (3000, 3000 + covered // 2), (3100, 3000 + covered // 2),
             (4000 - covered + covered // 2, 4500)]
    with open(os.environ["LOADERSCOPE_CUPTI_FILE"], "w") as file:
        for begin, end in spans:
            file.write(json.dumps({"kind": "kernel", "begin_ns": begin * 10**6, "end_ns": end * 10**6}) + "\n")
        file.write('{"kind":"memcpy","begin_ns":3400000000,"end_ns":3600000000}\n{"kind":"lost","count":0}\n')

def run():
    model = "--engine" in words and value("--engine") == "model"
    if "--device" in words and value("--device") == "null":
        time.sleep(60)
    if wrong == "run fails" and not model:
        sys.exit("loaderscope: the device was lost; look at dmesg")
    if "LOADERSCOPE_CUPTI_FILE" in os.environ:
        kernels()
    decode = 0.29 if model and wrong != "off the model" else 0.3
    if model and wrong == "off the model":
        decode = 0.2
    return {"schema": "loaderscope.run/1", "simulated": model, "window": {"wall_s": 1.0},
            "throughput": {"samples_per_s": {"mean": 100.0}}, "device": {"busy": 0.7},
            "account": {"compute_s": 0.7, "stall_s": {"decode": decode, "other": 0.3 - decode}},
            "verdict": {"sentence": "decode"}, "lost_spans": 0, "errors": {"skipped_samples": 0},
            "notes": [], "ranks": [{"first_ask_ns": 10**9, "window": {"begin_s": 2.0, "end_s": 3.0}}]}

if words == ["--version"]:
    print("loaderscope 0.1.0 (commit abc123-dirty, GNU 12)")
elif words[:2] == ["data", "make"]:
    os.mkdir(words[2])
elif words[0] == "list":
    print(json.dumps(devices() if words[1] == "device" else family("memory", "pageable", "pinned-slots")))
else:
    print("{" if wrong == "no JSON" else json.dumps(probe() if words[0] == "probe" else run()))
