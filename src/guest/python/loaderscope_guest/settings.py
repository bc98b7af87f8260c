"""What the host wants of this run, from the private folder that it made; and word for it there from a process that has no
line to it."""

import contextlib
import json
import os
from typing import Any, Dict, List, Optional

# A worker that is spawned may have lost the environment; the package lies in FOLDER/python.
_PYTHON = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDER = os.environ.get("LOADERSCOPE_GUEST") or os.path.dirname(_PYTHON)


def _read() -> Dict[str, Any]:
    with open(os.path.join(FOLDER, "settings.json"), encoding="utf-8") as file:
        return json.load(file)


def _local_rank() -> int:
    for name in ("LOCAL_RANK", "RANK", "SLURM_LOCALID"):
        value = os.environ.get(name, "")
        if value.isdigit():
            return int(value)
    return -1


_all = _read()
OVERRIDES: Dict[str, Any] = _all["overrides"]  # of the DataLoader's arguments
INJECTIONS: List[Dict[str, Any]] = _all["inject"]
SEED: int = _all["seed"]
REPLAY: Optional[Dict[str, int]] = _all["replay"]  # steps: lead, and of a turn with the loader and without
TRAINER: Dict[str, Any] = _all["trainer"]  # of a trainer of ours
BIND: Optional[Dict[str, Any]] = _all["bind"]  # CPUs: `in_turn` of workers, or `by_rank`; None: nothing is bound
BATCH_FUNCTION: str = _all["batch_function"]  # FILE.py:NAME of the program's own; "": none is named
STARTED_IN = os.getcwd()  # the folder that FILE.py is given from
RANK = _local_rank()  # of this process; -1: it has none

_LONGEST_REASON = 1000  # characters of a reason


def leave_word(role: str, reason: str) -> None:
    """Why this process is not measured. A link, because making one needs no file descriptor: there may be none left."""
    with contextlib.suppress(OSError, ValueError):
        os.symlink(reason[:_LONGEST_REASON] or role, f"{FOLDER}/unmeasured/{os.getpid()}-{role}")
