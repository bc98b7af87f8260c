"""Declared delays (`--inject STAGE=+5ms`), slept inside the hook of their stage. The host receives the delays that had
a hook, so that a missing hook is noticed."""

import random
import time
from typing import Any, Dict, List

from loaderscope_guest import library
from loaderscope_guest.library import MESSAGE
from loaderscope_guest.settings import INJECTIONS, RANK, SEED

_draws = random.Random(SEED)  # separate generator, so that the program's random numbers stay the same


class _Injection:
    def __init__(self, number: int, given: Dict[str, Any]) -> None:
        self.number = number
        self.worker = given.get("worker")
        self.seconds: float = given["seconds"]
        self.every: int = given["every"]
        self.probability: float = given["probability"]
        self.executed = 0
        self.late = 0.0  # total delay of earlier sleeps in seconds, which the next ones make up for

    def extra(self) -> float:
        """Returns the delay of this execution in seconds."""
        if self.executed == 0:
            library.say(what=MESSAGE.injected, number=self.number)
        self.executed += 1
        if self.executed % self.every != 0:
            return 0.0
        if self.probability < 1 and _draws.random() >= self.probability:
            return 0.0
        return self.seconds

    def sleep(self) -> None:
        seconds = self.extra()
        if seconds == 0:
            return
        begun = time.monotonic()
        time.sleep(max(seconds - self.late, 0.0))
        self.late += time.monotonic() - begun - seconds


_rank = max(RANK, 0)
_stage_injections: Dict[str, List[_Injection]] = {}
for _number, _given in enumerate(INJECTIONS):
    if _given.get("rank", _rank) == _rank:
        _stage_injections.setdefault(_given["stage"], []).append(_Injection(_number, _given))
ANY = bool(_stage_injections)


def _select(stage: str, worker: int) -> List[_Injection]:
    return [one for one in _stage_injections.get(stage, ()) if one.worker in (None, worker)]


def apply(stage: str, worker: int = -1) -> None:
    """`worker`: the worker that executes the stage; -1: no worker."""
    for injection in _select(stage, worker):
        injection.sleep()


def extra(stage: str) -> float:
    """Seconds that the device is to take longer."""
    return sum(injection.extra() for injection in _select(stage, -1))


def once_per_sample(stage: str, making: Any) -> None:
    """A stage may be entered several times for one sample, and many samples may be made at once."""
    if stage not in _stage_injections:
        return
    done = making.injected.get(stage, 0)
    if done < making.samples_at_once:
        making.injected[stage] = done + 1
        apply(stage, making.worker)
