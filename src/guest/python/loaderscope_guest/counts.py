"""What loaders of other packages say of themselves, as numbers by name: the host has a row for each
(`src/guest/host/told_counts.cpp`), and shows the sum of all by that of what they are of."""

from typing import Callable, Dict, List, Tuple

from loaderscope_guest import library
from loaderscope_guest.library import MESSAGE, now


class Counts:
    """Of this process, so far."""

    def __init__(self) -> None:
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
        if not (self._values or self._watched):
            return
        at = now()
        for name, (seconds, before, since) in self._watched.items():
            self.put(name, seconds() - before, (at - since) * 1e-9)
        library.say(what=MESSAGE.counts, values=self._values)


_counts = Counts()
put, add, watch, say = _counts.put, _counts.add, _counts.watch, _counts.say
