"""The counters of this process: by name a sum, and the number of things that it is the sum of. The host has a row for each
name (`src/guest/host/counter_table.cpp`), which says how the values of all processes become a metric."""

import os
from typing import Any, Callable, Dict, List, Optional, Tuple

from loaderscope_guest import library
from loaderscope_guest.library import MESSAGE, now


_REPORT_EVERY = 500_000_000  # ns


class Counters:
    def __init__(self) -> None:
        self.forget()
        os.register_at_fork(after_in_child=self.forget)

    def forget(self) -> None:
        self.not_before = 0  # ns: the earliest time of the next report
        self.also: List[Callable[[], None]] = []  # called before each report
        self._values: Dict[str, List[Any]] = {}  # sum, number of things, and the parts if there are some
        self._sent: Dict[str, List[Any]] = {}
        self._watched: Dict[str, Tuple[Callable[[], float], float, int]] = {}

    def put(self, name: str, value: float, of: float = 1, parts: Optional[Dict[str, float]] = None) -> None:
        """`parts`: of the sum, by name."""
        self._values[name] = [float(value), float(of), parts] if parts else [float(value), float(of)]

    def add(self, name: str, value: float, of: float) -> None:
        kept = self._values.setdefault(name, [0.0, 0.0])
        kept[0] += value
        kept[1] += of

    def watch(self, name: str, seconds: Callable[[], float]) -> None:
        """Counts the increase of `seconds()` per second from now on."""
        self._watched.setdefault(name, (seconds, seconds(), now()))

    def report(self) -> None:
        """Called now and then."""
        self.not_before = now() + _REPORT_EVERY
        for put_more in self.also:
            put_more()
        at = now()
        for name, (seconds, before, since) in self._watched.items():
            self.put(name, seconds() - before, (at - since) * 1e-9)
        self.send()

    def send(self) -> None:
        """Sends the values that have changed. The host keeps the last value of each counter."""
        changed = {name: list(value) for name, value in list(self._values.items()) if value != self._sent.get(name)}
        if changed:
            self._sent.update(changed)
            library.say(what=MESSAGE.counters, values=changed)


counters = Counters()
