"""Loaders that are none of PyTorch's: what `--loader` makes, and those of known packages (`foreign_table`) wherever a
program makes them. A loader of PyTorch's within one, or one of these within a data set of PyTorch's, is measured once."""

import functools
import os
from types import ModuleType
from typing import Any, Callable, Dict, Iterator

from loaderscope_guest import construction, iteration, messages, settings
from loaderscope_guest.third_party_table import Row
from loaderscope_guest.loaders import loaders
from loaderscope_guest.opaque import Opaque, described, is_counted, not_counted
from loaderscope_guest.batch_sizes import attribute, count_samples


def _batch_size(loader: Any, first: Any) -> int:
    size = attribute(loader, "batch_size")
    return size if isinstance(size, int) else count_samples(first)


class Watched:
    """The batches of `--loader`. They are foreign where no DataLoader has given a batch by the time of the first one."""

    def __init__(self, batches: Any, loader: Any) -> None:
        """`loader`: what gives the batches, as the user has made it."""
        self._batches = batches
        flag = "--loader " + settings.TRAINER["loader"]
        pipeline = settings.TRAINER["pipeline"] or {}

        def describe(first: Any) -> Dict[str, Any]:
            return described(type(loader).__name__, flag, _batch_size(loader, first), pipeline.get("workers", 0),
                             pipeline.get("prefetch", 0), construction.find_libraries(type(loader)))

        self._opaque = Opaque(loader, describe, flag, given_before=0, is_program=False)

    def __iter__(self) -> Iterator[Any]:
        self._opaque.begin_epoch()
        batches = iter(self._batches)
        while True:
            try:
                batch = self._opaque.take(lambda: next(batches))
            except StopIteration:
                return
            yield batch


_MARK = "_loaderscope"  # key in an iterator's __dict__: its Opaque


def _find_opaque(iterator: Any, row: Row) -> Opaque:
    opaque = iterator.__dict__.get(_MARK)
    if opaque is None:
        loader = getattr(iterator, row.loader) if row.loader else iterator
        place = construction.here().line

        def describe(first: Any) -> Dict[str, Any]:
            return described(row.called, place, _batch_size(loader, first),
                             made_by=construction.find_libraries(type(loader)))

        opaque = Opaque(loader, describe, f"the {row.called} of {os.path.basename(place)}", loaders.given)
        iterator.__dict__[_MARK] = opaque
    return opaque


def _next(original: Callable[[Any], Any], row: Row) -> Callable[[Any], Any]:
    @functools.wraps(original)
    def __next__(self: Any) -> Any:
        if not is_counted():
            return original(self)
        return _find_opaque(self, row).take(lambda: original(self))

    return __next__


def _init(original: Callable[..., None]) -> Callable[..., None]:
    """Some take their first batch when they are made, and give it when they are asked for it."""

    @functools.wraps(original)
    def __init__(self: Any, *arguments: Any, **named: Any) -> None:
        with not_counted():
            original(self, *arguments, **named)

    return __init__


def install(module: ModuleType, row: Row) -> None:
    owner = getattr(module, row.iterator, None)
    if owner is None or not hasattr(owner, "__next__"):
        messages.degraded(f"this {row.module} has no {row.iterator}.__next__: its batches are not seen", loader=True)
        return
    iteration.install_ending()
    owner.__next__ = _next(owner.__next__, row)
    owner.__init__ = _init(owner.__init__)
