"""Checks that trainings have the same losses with and without loaderscope, and are measured: same_losses.py [NAME...],
with names of seeded.py; see --help. One line each; the exit code is 1 where one differs."""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
from typing import Any, Dict, List, Tuple

_HERE = pathlib.Path(__file__).resolve().parent
_LONGEST = 900  # s, of one run
TORCH_PROGRAMS = ["inline", "forked", "spawned", "persistent", "stream", "tensors"]
FRAMEWORK_PROGRAMS = ["accelerate", "lightning", "transformers", "timm", "litdata", "streaming", "webdataset", "torchdata",
                      "datasets"]


def _run(command: List[Any]) -> Tuple[str, str]:
    """Returns the line with the losses, or "" and the reason."""
    try:
        ended = subprocess.run(command, capture_output=True, text=True, timeout=_LONGEST, check=False)
    except subprocess.TimeoutExpired:
        return "", f"not ended after {_LONGEST} s"
    lines = (ended.stdout + "\n" + ended.stderr).strip().splitlines()
    losses = [text for text in lines if text.startswith('{"losses"')]
    return (losses[-1], "") if losses else ("", (lines or ["no word"])[-1][:160])


def compare(python: str, loaderscope: pathlib.Path, name: str) -> Dict[str, Any]:
    program = [python, _HERE / "seeded.py", name]
    alone, why = _run(program)
    if not alone:
        return {"name": name, "runs": False, "why": why}
    with tempfile.TemporaryDirectory() as folder:
        result = pathlib.Path(folder, "result.json")
        beside, why = _run([loaderscope, "run", "--json", result, "--", *program])
        measured = json.loads(result.read_text(encoding="utf-8")) if result.exists() else {}
    return {"name": name, "runs": True, "same": alone == beside, "alone": alone, "beside": beside or why,
            "steps": measured.get("window", {}).get("steps", 0),
            "unseen": [note for note in measured.get("notes", []) if "not looked into" in note or "not seen" in note]}


def line(row: Dict[str, Any]) -> str:
    if not row["runs"]:
        return f"{row['name']:13} does not run here: {row['why']}"
    words = "same" if row["same"] else f"DIFFERS: {row['alone']} {row['beside']}"
    return f"{row['name']:13} {words:8} {row['steps']:4} steps measured" + "".join(f"; {note}" for note in row["unseen"])


def is_well(row: Dict[str, Any]) -> bool:
    return not row["runs"] or row["same"] and row["steps"] > 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="of seeded.py; all where none is given")
    parser.add_argument("--python", default=sys.executable, help="that has what they need")
    parser.add_argument("--loaderscope", type=pathlib.Path, default=_HERE.parents[1] / "build/release/loaderscope")
    parser.add_argument("--torch-only", action="store_true", help="those that need nothing but PyTorch")
    flags = parser.parse_args()
    names = flags.names or (TORCH_PROGRAMS if flags.torch_only else TORCH_PROGRAMS + FRAMEWORK_PROGRAMS)
    rows = []
    for name in names:
        rows.append(compare(flags.python, flags.loaderscope, name))
        print(line(rows[-1]), flush=True)
    sys.exit(0 if all(map(is_well, rows)) else 1)


if __name__ == "__main__":
    main()
