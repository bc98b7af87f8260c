"""The answer: one JSON, written again after each line, and the table."""
import datetime
import json
import os
import pathlib
import re

from gpu_check import programs
from gpu_check.runner import FAILED, NOT_REACHED, PROVED

STATES = (PROVED, FAILED, NOT_REACHED)


def default_path(device):
    name = re.sub(r"[^a-z0-9]+", "-", device.lower()).strip("-")
    return pathlib.Path("reports" if os.path.isdir("reports") else ".") / f"gpu-{name}.json"


class Report:
    def __init__(self, path, folder, device, driver):
        version = programs.run([folder / "loaderscope", "--version"], 30).out.strip()
        commit = re.search(r"commit ([\w-]+)", version)
        self.path = path
        self.head = {
            "schema": "loaderscope.gpu-check/1", "device": device, "driver": driver,
            "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "commit": commit[1] if commit else None, "version": version}

    def write(self, lines):
        """Writes the report in one move, so that an earlier one is never lost."""
        numbers = {state.replace(" ", "_"): sum(line["state"] == state for line in lines) for state in STATES}
        text = json.dumps({**self.head, **numbers, "lines": lines}, indent=1)
        partial = self.path.with_name(self.path.name + ".part")
        partial.write_text(text + "\n")
        partial.replace(self.path)


def table(lines):
    width = max(len(line["name"]) for line in lines)
    rows = [f"{'line':<{width}}  {'state':<11}  proved  took"]
    for line in lines:
        proved = sum(check["state"] == PROVED for check in line["checks"])
        part = f"{proved:>2} of {len(line['checks']):>2}" if line["checks"] else " " * 8
        rows.append(f"{line['name']:<{width}}  {line['state']:<11}  {part}  {line['took_s']:4.0f} s  "
                    f"{line['reason'][:160]}".rstrip())
    return "\n".join(rows)
