"""A loader that is none of PyTorch's: DALI's, or one written by hand. What is seen of it is when a batch was asked for and
when it came, and what the hooks see in the thread that asks.

It is told as if that thread made each batch itself, from asking for it until it is there: the wait is what the loader
costs the training. What it does in threads and processes of its own meanwhile is not known, nor how many it has."""

import sys
from typing import Any, Dict, Iterator, Optional

from loaderscope_guest import inject, library, making, messages, replay, settings
from loaderscope_guest.iteration import Iteration, ask, given, given_again
from loaderscope_guest.library import FACT, MESSAGE, SAMPLE, now
from loaderscope_guest.loaders import FOREIGN, loaders
from loaderscope_guest.sizes import samples_of

_NO_ITERATOR = -1


def _describe(loader: Any, first: Any) -> Dict[str, Any]:
    told = settings.TRAINER["pipeline"] or {}
    batch_size = getattr(loader, "batch_size", None)
    return {
        "is_opaque": True,
        "num_workers": told.get("workers", 0),
        "prefetch_factor": told.get("prefetch", 0),
        "batch_size": batch_size if isinstance(batch_size, int) else samples_of(first),
        "pin_memory": False,
        "persistent_workers": True,
        "in_order": True,
        "drop_last": False,
        "shuffle": False,
        "mp_context": "fork",
        "samples": 0,
        "batches": 0,
        "iterable": False,
        "dataset": type(loader).__name__,
        "sampler": "",
        "place": "--loader " + settings.TRAINER["loader"],
        "code": {},
    }


def _refuse_overrides() -> None:
    for argument in settings.OVERRIDES:
        flag = "--" + argument.replace("_", "-")
        messages.refuse(f"{flag}: --loader {settings.TRAINER['loader']} makes a loader that is no DataLoader of PyTorch; "
                        f"leave out {flag}; its settings are its own: write a function for each, and measure them with "
                        "'loaderscope sweep --vary loader=FILE.py:ONE,FILE.py:OTHER'")


class Watched:
    """An iterable of batches. It is foreign where no DataLoader has given a batch by the time of its first one."""

    def __init__(self, batches: Any, loader: Any) -> None:
        """`loader`: what gives the batches, as the user has made it."""
        self._batches = batches
        self._loader = loader
        self._is_around = False  # a DataLoader
        self._iteration: Optional[Iteration] = None  # once it is known to be foreign
        self._making: Any = None
        self._described = False

    def __iter__(self) -> Iterator[Any]:
        begun = now()
        if self._iteration is not None:
            self._iteration.restart(begun)
            self._making.next_epoch()
        batches = iter(self._batches)
        while True:
            try:
                batch = self._next(batches, begun)
            except StopIteration:
                return
            yield batch

    def _next(self, batches: Iterator[Any], begun: int) -> Any:
        if self._is_around:
            return next(batches)
        messages.join_as_trainer()
        if self._iteration is None and "torch.utils.data.dataloader" not in sys.modules:
            self._begin(begun)
        if self._iteration is not None:
            return self._watched_next(batches, self._iteration)
        asked = now()
        library.fact(FACT.ask, _NO_ITERATOR, 0, 0, -1, asked, 0, 0, 0, 0)
        batch = next(batches)
        if loaders.has_given:
            self._is_around = True
            self._say_what_is_between()
        else:
            iteration = self._begin(begun)
            self._making.begin(0, asked, asked, ())
            self._taken(batch, iteration, asked)
        return batch

    def _say_what_is_between(self) -> None:
        if not isinstance(self._loader, sys.modules["torch.utils.data.dataloader"].DataLoader):
            messages.degraded(f"the loader is a {type(self._loader).__name__} around a DataLoader: what it does itself with a "
                              "batch is not seen, and counts as launch")

    def _begin(self, begun: int) -> Iteration:
        _refuse_overrides()
        self._iteration = loaders.begin_foreign(self._loader, begun)
        self._making = making.Making(self._iteration.number, 0)
        messages.degraded("the loader is no DataLoader of PyTorch: only the waiting for its batches is seen, as opaque")
        return self._iteration

    def _watched_next(self, batches: Iterator[Any], iteration: Iteration) -> Any:
        asked = ask(iteration)
        if replay.is_next():
            return given_again(iteration)
        before, making.current = making.current, self._making
        self._making.begin(iteration.taken, asked, asked, ())
        if library.flags.timing:
            library.sample(SAMPLE.whole_batch)
        inject.apply("opaque", 0)
        try:
            batch = next(batches)
        except StopIteration:
            library.end_work(True)
            iteration.fact(FACT.ended, begin=asked, end=now())
            raise
        finally:
            making.current = before
        self._taken(batch, iteration, asked)
        return batch

    def _taken(self, batch: Any, iteration: Iteration, asked: int) -> None:
        if not self._described:
            self._described = True
            library.say(what=MESSAGE.loader, iterator=iteration.number, loader=FOREIGN, **_describe(self._loader, batch))
        iteration.fact(FACT.dispatched, iteration.taken, begin=asked)
        self._making.samples = samples_of(batch)
        self._making.finish(batch, by_trainer=True)
        given(iteration, iteration.taken, batch, asked)

