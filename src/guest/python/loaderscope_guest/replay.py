"""Delivered batches that replace the loader in alternate turns of one run (`--prove`). The step time during a replay is
the part that the loader does not affect."""

import copy
import os
from typing import Any, Dict, List, Optional, Tuple

from loaderscope_guest import messages
from loaderscope_guest.settings import REPLAY
from loaderscope_guest.batch_sizes import count_bytes

_MOST = 8
_MOST_BYTES = 1 << 30
_DEEPEST = 4


def _free_memory() -> int:
    with open("/proc/meminfo", encoding="ascii") as file:
        for line in file:
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    return 0


def _free_shared_memory() -> int:
    """Batches of workers lie there."""
    try:
        shared_memory = os.statvfs("/dev/shm")
    except OSError:
        return _MOST_BYTES
    return shared_memory.f_bavail * shared_memory.f_frsize


def fresh(data: Any, depth: int = 0) -> Any:
    """The same tensors in containers of their own: a training step may take a batch apart."""
    if depth == _DEEPEST:
        return data
    if isinstance(data, dict):
        again = copy.copy(data)
        for key in again:
            again[key] = fresh(again[key], depth + 1)
        return again
    if type(data) in (list, tuple):
        return type(data)(fresh(part, depth + 1) for part in data)
    return data


class Kept:
    """The first batches, as many as a quarter of the free memory holds; one at least."""

    def __init__(self, turns: Optional[Dict[str, int]]) -> None:
        self._turns = turns
        self._batches: List[Any] = []
        self._room = -1  # bytes; not looked at yet
        self._steps = 0
        self._next = 0
        self._full = False

    def taken(self, data: Any) -> None:
        self._steps += 1
        if self._turns is None or self._full:
            return
        if self._room < 0:
            self._room = min(_MOST_BYTES, _free_memory() // 4, _free_shared_memory() // 4)
        self._room -= count_bytes(data)
        if self._batches and self._room < 0:
            self._full = True
            return
        try:
            self._batches.append(fresh(data))
            self._full = len(self._batches) == _MOST
        except Exception as error:  # containers of the program's own may be none that can be copied
            self._full = True
            messages.not_seen("what is left of a step without its loader is", error)

    def is_next(self) -> bool:
        if self._turns is None:
            return False
        past = self._steps - self._turns["lead"]
        is_turn = past >= 0 and past % (self._turns["loader"] + self._turns["replay"]) >= self._turns["loader"]
        return is_turn and bool(self._batches)

    def take(self) -> Tuple[int, Any]:
        """The batch that comes next, and as which it was taken first."""
        self._full = True
        self._steps += 1
        number, self._next = self._next, (self._next + 1) % len(self._batches)
        return number, fresh(self._batches[number])


ANY = REPLAY is not None
_kept = Kept(REPLAY)
taken, is_next, take = _kept.taken, _kept.is_next, _kept.take
