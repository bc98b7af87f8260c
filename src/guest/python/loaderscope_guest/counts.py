"""What loaders of other packages say of themselves, as numbers by name: the host has a row for each
(`src/guest/host/told_counts.cpp`), and shows the sum of all by that of what they are of."""

import os
from typing import Callable, Dict, List, Tuple

from loaderscope_guest import library
from loaderscope_guest.library import MESSAGE, now


_SAY_EVERY = 500_000_000  # ns


class Counts:
    """Of this process, so far."""

    def __init__(self) -> None:
        self.forget()
        os.register_at_fork(after_in_child=self.forget)

    def forget(self) -> None:
        self.not_before = 0  # ns: the earliest time of the next report
        self.also: List[Callable[[], None]] = []  # called before each report
        self._values: Dict[str, List[float]] = {}
        self._watched: Dict[str, Tuple[Callable[[], float], float, int]] = {}

    def put(self, name: str, value: float, of: float = 1) -> None:
        self._values[name] = [float(value), float(of)]

    def add(self, name: str, value: float, of: float) -> None:
        kept = self._values.setdefault(name, [0.0, 0.0])
        kept[0] += value
        kept[1] += of

    def watch(self, name: str, seconds: Callable[[], float]) -> None:
        """What `seconds` gives goes up by, of the time from now on."""
        self._watched.setdefault(name, (seconds, seconds(), now()))

    def say(self) -> None:
        """Now and then."""
        self.not_before = now() + _SAY_EVERY
        for put_more in self.also:
            put_more()
        if not (self._values or self._watched):
            return
        at = now()
        for name, (seconds, before, since) in self._watched.items():
            self.put(name, seconds() - before, (at - since) * 1e-9)
        library.say(what=MESSAGE.counts, values=self._values)


counts = Counts()
put, add, watch, say = counts.put, counts.add, counts.watch, counts.say
