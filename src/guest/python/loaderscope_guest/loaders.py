"""Which loader of the program is which."""

import weakref
from typing import Any, Callable, List, NamedTuple, Tuple

from loaderscope_guest import library, messages, overrides, places, threads
from loaderscope_guest.iteration import Iteration
from loaderscope_guest.loader_facts import describe
from loaderscope_guest.protocol import FACT, MESSAGE
from loaderscope_guest.sizes import attribute
from loaderscope_guest.turns import Turn

FOREIGN = -2  # the number of a loader that is no DataLoader


class _Made(NamedTuple):
    loader: Any  # references that do not keep alive
    dataset: Any
    stack: Tuple[str, ...]
    alike: Tuple[Any, ...]  # what stays the same where a loader is made anew

    def succeeds(self, other: "_Made") -> bool:
        if other.loader() is not None or other.alike != self.alike:
            return False
        dataset = self.dataset()
        return other.stack == self.stack or (dataset is not None and other.dataset() is dataset)


def _reference(thing: Any) -> Callable[[], Any]:
    try:
        return weakref.ref(thing)
    except TypeError:
        return lambda: None


class Loaders:
    """The program's DataLoaders by number. One that is made anew, as some programs do for each epoch, has the number
    of its predecessor."""

    def __init__(self) -> None:
        self._made: List[_Made] = []
        self._iterators = 0
        self.has_given = False  # a batch, any of them
        self._turn = Turn()

    def number_of(self, loader: Any) -> int:
        for number, made in enumerate(self._made):
            if made.loader() is loader:
                return number
        new = _Made(_reference(loader), _reference(loader.dataset), places.of(loader).stack,
                    (type(loader.dataset), loader.num_workers, attribute(loader, "batch_size")))
        for number, made in enumerate(self._made):
            if new.succeeds(made):
                self._made[number] = new
                return number
        self._made.append(new)
        return len(self._made) - 1

    def begin(self, loader: Any, begun: int) -> Any:
        """An Iteration, or None where it cannot be measured. A loader that a data set has for itself is part of it."""
        if library.flags.is_worker():
            return None
        with self._turn():
            return self._begin(loader, begun)

    def _begin(self, loader: Any, begun: int) -> Any:
        if places.of(loader) is places.UNKNOWN:  # no DataLoader that was made by calling its class
            places.remember(loader)
            overrides.refuse_for(loader)
        try:
            number = self.number_of(loader)
            said = library.spelled(what=MESSAGE.loader, iterator=self._iterators, loader=number, **describe(loader))
        except Exception as error:
            messages.join_as_trainer()
            messages.degraded(f"a DataLoader of {places.of(loader).line} is not looked into: {error!r}", loader=True)
            return None
        if not messages.join_as_trainer():
            return None
        if self._iterators == 0:
            threads.say()
        library.say_spelled(said)
        iteration = self._iteration(begun, loader)
        if getattr(loader, "persistent_workers", False):
            iteration.say_settings(loader.dataset)
        return iteration

    def _iteration(self, begun: int, loader: Any) -> Iteration:
        iteration = Iteration(self._iterators, begun, loader)
        self._iterators += 1
        iteration.fact(FACT.epoch, begin=begun)
        return iteration

    def begin_foreign(self, loader: Any, begun: int) -> Iteration:
        """Of a loader that is no DataLoader, which describes itself once it has given a batch."""
        with self._turn():
            return self._iteration(begun, loader)


loaders = Loaders()
