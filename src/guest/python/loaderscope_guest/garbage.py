"""Collections of garbage by the interpreter of this process: how many there are, and how long they take. Each stops the thread
that happens to make an object, and a full one looks at all objects that the process has or was forked with."""

import gc
from typing import Any, Dict

from loaderscope_guest import library
from loaderscope_guest.counts import counts
from loaderscope_guest.library import now

_FULL = 2  # the generation that is all objects
_LEAST = 1_000_000_000  # ns that a share is of: one collection in the first moments is none of the process's time


class Collections:
    """Is called by the interpreter when one begins and when it is over. It makes no object then."""

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


_watched: Any = None  # is one of gc.callbacks, also in the child of a fork


def watch() -> None:
    """From now on in this process, which has joined."""
    global _watched
    for place, callback in enumerate(gc.callbacks):
        if callback is _watched:  # of the process that this one was forked from
            del gc.callbacks[place]
            break
    _watched = Collections(library.flags.role)
    gc.callbacks.append(_watched)
    counts.also.append(_watched.put)
