"""Cores that threads of libraries take, such as those of a tokenizer, while a thread of this process makes a batch and waits
for them."""

from typing import List

from loaderscope_guest import library
from loaderscope_guest.counters import counters

_MAKING, _OTHERS = range(2)  # totals of the library, in ns


class Cores:
    """Since it was made. The library measures them per batch."""

    def __init__(self) -> None:
        self._before = self._totals()

    def _totals(self) -> List[int]:
        return [library.library_threads(total) for total in (_MAKING, _OTHERS)]

    def put(self) -> None:
        making, others = (total - before for total, before in zip(self._totals(), self._before))
        counters.put("making.library_cores", others, making)


def watch() -> None:
    """Begins in this process. Requires that it has joined."""
    counters.also.append(Cores().put)
