"""An iterator without workers: the trainer makes the batches itself."""

import functools
from types import ModuleType
from typing import Any

from loaderscope_guest import library, making
from loaderscope_guest.clock import now
from loaderscope_guest.fetcher import watch
from loaderscope_guest.in_hand import in_hand
from loaderscope_guest.protocol import FACT


class InTrainer:
    """The fetcher of an iterator without workers."""

    def __init__(self, fetcher: Any, maker: making.Making) -> None:
        self._fetcher = fetcher
        self._making = maker
        watch(fetcher, maker)
        self._batch = 0
        self._begun = 0

    def begin(self) -> None:
        """Before the sampler says which samples are next: that is part of the batch's making."""
        self._begun = now()
        library.rest(self._begun, self._begun)

    def end(self) -> None:
        """The sampler has none left."""
        library.begin_work(self._making.iterator, self._making.generation, self._batch)
        library.end_work(True)

    def fetch(self, index: Any) -> Any:
        before, making.current = making.current, self._making
        batch, self._batch = self._batch, self._batch + 1
        at, self._begun = self._begun or now(), 0
        self._making.fact(FACT.dispatched, at, batch=batch)
        self._making.begin(batch, at, at, index)
        data = None
        try:
            data = self._fetcher.fetch(index)
        finally:
            self._making.finish(data, by_trainer=True)
            making.current = before
            in_hand.iteration, in_hand.batch = self._making, batch
        return data

    def __getattr__(self, name: str) -> Any:
        return getattr(self._fetcher, name)


def install(module: ModuleType) -> None:
    single = module._SingleProcessDataLoaderIter.__init__

    @functools.wraps(single)
    def with_fetcher(self: Any, loader: Any, *more: Any, **named: Any) -> None:
        single(self, loader, *more, **named)
        if self.__dict__.get("_loaderscope") is not None and hasattr(self, "_dataset_fetcher"):
            self._dataset_fetcher = InTrainer(self._dataset_fetcher, self._loaderscope.making)

    module._SingleProcessDataLoaderIter.__init__ = with_fetcher
