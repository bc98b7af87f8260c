"""A program under loaderscope behaves as without it: contract_test.py LOADERSCOPE [GROUP...]. Each file of contract/ is a group
of small programs. Each group runs twice, alone and as `loaderscope run -- python`; output, result, exception and exit code of
each program must be the same. A file may set two constants:

- NEEDS names the modules without which the group is skipped, and "gpu" if it needs one.
- PROCESSES is "one" by default: all programs of the file run in one process. "forked" gives each a child of a process that
  has imported the file, and "fresh" a new Python. Starting Python with torch costs seconds, so "fresh" needs a reason.

A new program is a function without an underscore and without arguments in a file of contract/. It prints or returns what must
not change."""

import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

_HERE = pathlib.Path(__file__).resolve().parent
_SKIPPED = 77
_LONGEST = 600  # s, of a group


def groups():
    return sorted(path.stem for path in (_HERE / "contract").glob("*.py") if not path.stem.startswith("_"))


def _is_here(need):
    return os.path.exists("/dev/nvidia0") if need == "gpu" else importlib.util.find_spec(need) is not None


def _missing(group):
    """The modules that the group needs and that are missing."""
    for line in (_HERE / "contract" / f"{group}.py").read_text(encoding="utf-8").splitlines():
        if line.startswith("NEEDS = "):
            return [name for name in line.split('"')[1].split() if not _is_here(name)]
    return []


def _rows(before, group):
    """The outcomes of the programs by name, and the end of the output."""
    with tempfile.TemporaryDirectory(prefix="contract-") as folder:
        output = os.path.join(folder, "rows")
        environment = dict(os.environ, HOME=folder, PYTHONDONTWRITEBYTECODE="1")
        ended = subprocess.run([*before, sys.executable, str(_HERE / "contract_runs.py"), group, output], cwd=folder,
                               env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
                               timeout=_LONGEST)
        lines = pathlib.Path(output).read_text(encoding="utf-8").splitlines() if os.path.exists(output) else []
    rows = [json.loads(line) for line in lines]
    return {row.pop("name"): row for row in rows}, (ended.stdout + ended.stderr)[-3000:]


def differences(loaderscope, group):
    alone, words = _rows([], group)
    beside, words_beside = _rows([loaderscope, "run", "--no-progress", "--"], group)
    found = [] if alone else [f"{group}: no program ran: {words}"]
    found += [f"{group}: {line}" for line in words_beside.splitlines() if "this Python is not measured" in line]
    for name, row in alone.items():
        other = beside.get(name)
        if other is None:
            found.append(f"{group}.{name}: did not end under loaderscope: {words_beside}")
            break
        found += [f"{group}.{name}: {part}\n--- alone\n{row.get(part)}\n--- under loaderscope\n{other.get(part)}"
                  for part in sorted({*row, *other}) if row.get(part) != other.get(part)]
    return len(alone), found


def main(loaderscope, *names):
    skipped = failed = 0
    for group in names or groups():
        missing = _missing(group)
        if missing:
            print(f"{group}: skipped, without {', '.join(missing)}")
            skipped += 1
            continue
        begun = time.monotonic()
        count, found = differences(loaderscope, group)
        print(f"{group}: {count} programs, {len(found)} differences, {time.monotonic() - begun:.0f} s", *found, sep="\n", flush=True)
        failed += bool(found)
    return 1 if failed else _SKIPPED if skipped == len(names or groups()) else 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1]), *sys.argv[2:]))
