"""Settings of the host for this run, from its private folder. A process without a connection to the host leaves a note
in the same folder."""

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
OVERRIDES: Dict[str, Any] = _all["overrides"]  # overridden arguments of DataLoader
INJECTIONS: List[Dict[str, Any]] = _all["inject"]
SEED: int = _all["seed"]
REPLAY: Optional[Dict[str, int]] = _all["replay"]  # steps: lead, and of a turn with the loader and without
TRAINER: Dict[str, Any] = _all["trainer"]  # settings of a trainer of loaderscope
BIND: Optional[Dict[str, Any]] = _all["bind"]  # CPUs: `in_turn` of workers, or `by_rank`; None: nothing is bound
BATCH_FUNCTION: str = _all["batch_function"]  # FILE.py:NAME of the program's own; "": none is named
START_FOLDER = os.getcwd()  # the folder that FILE.py is given from
RANK = _local_rank()  # rank of this process; -1: none

_LONGEST_REASON = 1000  # characters of a reason


def leave_word(role: str, reason: str) -> None:
    """Stores the reason why this process is not measured. It is a symbolic link, because a link needs no file
    descriptor, and the process may have none left."""
    with contextlib.suppress(OSError, ValueError):
        os.symlink(reason[:_LONGEST_REASON] or role, f"{FOLDER}/unmeasured/{os.getpid()}-{role}")
