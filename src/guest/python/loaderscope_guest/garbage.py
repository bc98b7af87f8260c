"""The number and the duration of garbage collections in this process. Each one stops the thread that happens to make an
object. A full one visits all objects of the process, with those that it was forked with."""

import gc
from typing import Any, Dict

from loaderscope_guest import library
from loaderscope_guest.counts import counts
from loaderscope_guest.library import now

_FULL = 2  # the generation that holds all objects
_LEAST = 1_000_000_000  # ns; the divisor of a share is no smaller, so that one collection at the start is not a large share


class Collections:
    """The interpreter calls it at the beginning and at the end of each collection. It makes no object that is collected."""

    def __init__(self, role: str) -> None:
        self._role = role
        self._watched_since = now()
        self._begun = self._spent = 0  # ns
        self._full = self._spent_on_full = 0  # how many, ns

    def __call__(self, phase: str, information: Dict[str, Any]) -> None:
        if phase == "start":
            self._begun = now()
            return
        duration = now() - self._begun
        self._spent += duration
        if information["generation"] == _FULL:
            self._full += 1
            self._spent_on_full += duration

    def put(self) -> None:
        counts.put(f"gc.{self._role}_share", self._spent, max(_LEAST, now() - self._watched_since))
        counts.put(f"gc.{self._role}_full", self._full)
        counts.put("gc.full_s", self._spent_on_full * 1e-9, self._full)


_watched: Any = None  # our entry of gc.callbacks, which the child of a fork inherits


def watch() -> None:
    """Begins in this process. Requires that it has joined."""
    global _watched
    for place, callback in enumerate(gc.callbacks):
        if callback is _watched:  # of the process that this one was forked from
            del gc.callbacks[place]
            break
    _watched = Collections(library.flags.role)
    gc.callbacks.append(_watched)
    counts.also.append(_watched.put)
