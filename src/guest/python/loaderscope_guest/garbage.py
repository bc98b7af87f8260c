"""The number and the duration of garbage collections in this process. Each one stops the thread that happens to make an
object. A full one visits all objects of the process, with those that it was forked with."""

import gc
from typing import List

from loaderscope_guest import library, walks
from loaderscope_guest.counters import counters
from loaderscope_guest.library import now

_SPENT, _FULL, _SPENT_ON_FULL = range(3)  # totals of the library: ns, how many, ns
_WORKER_COLLECTIONS = 5  # collections of the youngest objects while it makes its first batches
_LEAST = 1_000_000_000  # ns; the divisor of a share is no smaller, so that one collection at the start is not a large share


class Collections:
    """Collections since its creation. The library counts them: a callback in Python would swallow the exception of a
    signal handler that waits for the end of the collection."""

    def __init__(self, role: str) -> None:
        self._role = role
        self._watched_since = now()
        self._before = self._totals()

    def _totals(self) -> List[int]:
        return [library.collected(total) for total in (_SPENT, _FULL, _SPENT_ON_FULL)]

    def put(self) -> None:
        spent, full, spent_on_full = (total - before for total, before in zip(self._totals(), self._before))
        counters.put(f"gc.{self._role}_share", spent, max(_LEAST, now() - self._watched_since))
        counters.put(f"gc.{self._role}_full", full)
        counters.put("gc.full_s", spent_on_full * 1e-9, full)


_budget = walks.Budget()


def _is_near() -> bool:
    """Returns True if a worker would make a full collection within its first batches."""
    _, middle, old = gc.get_count()
    _, most_middle, most_old = gc.get_threshold()
    if most_old <= 0 or not gc.isenabled():  # since Python 3.14 there is no such count
        return False
    return old > most_old or (old == most_old and middle + _WORKER_COLLECTIONS > most_middle)


def before_fork() -> None:
    """Makes a full collection in the trainer if the next one is near. Python counts new objects, and the count decides when it
    collects. The child of a fork begins with the count of its parent. Our objects raise that count. Therefore the program may
    fork shortly before a collection, and each worker would then repeat it."""
    if _is_near() and _budget.is_due():
        begun = now()
        gc.collect()
        _budget.spend(begun)
        library.took(begun)


def watch() -> None:
    """Begins in this process. Requires that it has joined."""
    if not any(callback is library.count_collection for callback in gc.callbacks):  # the child of a fork inherits it
        gc.callbacks.append(library.count_collection)
    counters.also.append(Collections(library.flags.role).put)
