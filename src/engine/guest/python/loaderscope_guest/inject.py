"""Declared delays (`--inject STAGE=+5ms`), slept inside the hook of their stage."""

import random
import time
from typing import Any, Dict, List

from loaderscope_guest.settings import INJECTIONS, RANK, SEED

_by_stage: Dict[str, List[Dict[str, Any]]] = {}
for _injection in INJECTIONS:
    if _injection.get("rank", RANK) == RANK:
        _by_stage.setdefault(_injection["stage"], []).append(_injection)
_draws = random.Random(SEED)  # of our own: the program's draws stay what they are


def any_declared() -> bool:
    return bool(_by_stage)


def apply(stage: str, worker: int = -1) -> None:
    """`worker`: who executes the stage; -1: nobody's."""
    for injection in _by_stage.get(stage, ()):
        if injection.get("worker", worker) != worker:
            continue
        injection["executed"] = injection.get("executed", 0) + 1
        if injection["executed"] % injection["every"] != 0:
            continue
        if injection["probability"] < 1 and _draws.random() >= injection["probability"]:
            continue
        time.sleep(injection["seconds"])


def once_per_sample(stage: str, making: Any) -> None:
    """A stage may be entered several times for one sample."""
    if stage in _by_stage and stage not in making.injected:
        making.injected.add(stage)
        apply(stage, making.worker)
