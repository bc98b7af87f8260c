"""Batches of a loader that is not PyTorch's, or of a function of the program. Only the request, the arrival, and the
hooks in the requesting thread are seen.

The report shows them as made by that thread, from the request until the arrival. This wait is their cost to the
training. The number and the work of the loader's own threads and processes are unknown."""

import contextlib
import sys
import threading
from typing import Any, Callable, Dict, Iterable, Iterator, Optional

from loaderscope_guest import batch_work, device_copies, inject, library, messages, replay, settings
from loaderscope_guest.iteration import Iteration, ask, given, given_again
from loaderscope_guest.library import FACT, MESSAGE, SAMPLE, now
from loaderscope_guest.loaders import loaders
from loaderscope_guest.batch_sizes import count_samples

_NO_ITERATOR = -1
_VARY = ("write a function for each, and measure them with 'loaderscope sweep --vary loader=FILE.py:ONE,FILE.py:OTHER'")
seen_inside = ""  # work that is reported for these loaders while the program waits for a batch; "": none
_guard_batches = messages.never_failing("what a loader gives is")
_inner = threading.local()  # `.on`: what gives batches in this thread is part of what is measured, or is being made


@contextlib.contextmanager
def not_counted() -> Iterator[None]:
    """Batches that are taken meanwhile in this thread are no step's."""
    before = getattr(_inner, "on", False)
    _inner.on = True
    try:
        yield
    finally:
        _inner.on = before


def is_counted() -> bool:
    """Not within another one, nor where a DataLoader makes a batch."""
    maker = batch_work.current
    return not (getattr(_inner, "on", False) or library.flags.is_worker() or maker is not None and maker.is_here())


def described(dataset: str, place: str, batch_size: int, workers: int = 0, prefetch: int = 0,
              made_by: Iterable[str] = ()) -> Dict[str, Any]:
    """`dataset`: what the loader is called. One that does not say how it works has the values of one without workers."""
    return {
        "is_opaque": True, "num_workers": workers, "prefetch_factor": prefetch, "batch_size": batch_size,
        "pin_memory": False, "persistent_workers": True, "in_order": True, "drop_last": False, "shuffle": False,
        "mp_context": "fork", "samples": 0, "batches": 0, "iterable": False, "dataset": dataset, "sampler": "",
        "place": place, "made_by": list(made_by), "data_of": [], "code": {},
    }


def _with_gradients() -> bool:
    return bool(getattr(sys.modules.get("torch"), "is_grad_enabled", lambda: False)())


class Opaque:
    """One of them. It is not measured where a DataLoader has given a batch by the time of its first one: that is."""

    def __init__(self, loader: Any, describe: Callable[[Any], Dict[str, Any]], flag: str, given_before: int,
                 is_program: bool = True) -> None:
        """`describe`: given the first batch. `flag`: words that name it in sentences. `given_before`: batches that
        DataLoaders had given before it was made. `is_program`: whose trainer takes them; else it is ours."""
        self._loader = loader
        self._describe = describe
        self._flag = flag
        self._given_before = given_before
        self._is_program = is_program
        self._change_them = "change them in the program" if is_program else _VARY
        self._iteration: Optional[Iteration] = None  # set once the loader is measured
        self._making: Any = None
        self._is_left = False  # not measured: a DataLoader within it is, or measuring is off
        self._is_described = False
        self._begun = 0  # the epoch; 0: the next batch begins one

    def begin_epoch(self) -> None:
        """Begins an epoch with the next batch. It may be called before the source of the batches exists."""
        self._begun = now()
        if self._iteration is not None:
            self._iteration.restart(self._begun)
            self._making.next_epoch()

    def take(self, make: Callable[[], Any]) -> Any:
        """The batch that `make` gives, or what it raises: StopIteration ends an epoch."""
        if self._is_left or not is_counted():
            return make()
        if not messages.join_as_trainer():
            self._is_left = True
            return make()
        if self._begun == 0:
            self.begin_epoch()
        with not_counted():
            if self._iteration is None and "torch.utils.data.dataloader" not in sys.modules:
                self._begin()
            return self._take_first(make) if self._iteration is None else self._take(make, self._iteration)

    def _take_first(self, make: Callable[[], Any]) -> Any:
        asked = now()
        library.fact(FACT.ask, _NO_ITERATOR, 0, 0, -1, asked, 0, 0, 0, 0)
        try:
            batch = make()
        except StopIteration:
            self._begun = 0
            raise
        self._first_taken(batch, asked)
        return batch

    @_guard_batches
    def _first_taken(self, batch: Any, asked: int) -> None:
        if loaders.given > self._given_before:
            self._is_left = True
            self._say_what_is_between()
            return
        iteration = self._begin()
        self._making.begin(0, asked, asked, ())
        self._taken(batch, iteration, asked)

    def _say_what_is_between(self) -> None:
        if not isinstance(self._loader, sys.modules["torch.utils.data.dataloader"].DataLoader):
            messages.degraded(f"the loader is a {type(self._loader).__name__} around a DataLoader: what it does itself "
                              "with a batch is not seen, and counts as launch")

    def _begin(self) -> Iteration:
        for argument in settings.OVERRIDES:
            flag = "--" + argument.replace("_", "-")
            messages.refuse(f"{flag}: {self._flag} gives batches without a DataLoader of PyTorch; leave out {flag}, as its "
                            f"settings are its own ({self._change_them})")
        self._iteration = loaders.begin_foreign(self._loader, self._begun)
        self._making = batch_work.Making(self._iteration.number, 0)
        messages.degraded("the loader is no DataLoader of PyTorch: only the waiting for its batches is seen, as "
                          + (seen_inside or "opaque"))
        return self._iteration

    def _take(self, make: Callable[[], Any], iteration: Iteration) -> Any:
        asked = ask(iteration)
        if replay.ANY and replay.is_next():
            return given_again(iteration)
        before, batch_work.current = batch_work.current, self._making
        with _guard_batches:
            self._making.begin(iteration.taken, asked, asked, ())
            if library.flags.timing:
                library.sample(SAMPLE.whole_batch)
        try:
            inject.apply("opaque", 0)
            batch = make()
        except BaseException as error:
            self._ended(iteration, error, asked)
            raise
        finally:
            batch_work.current = before
        self._taken(batch, iteration, asked)
        return batch

    @_guard_batches
    def _ended(self, iteration: Iteration, error: BaseException, asked: int) -> None:
        self._making.thread = 0
        library.end_work(True)
        is_over = isinstance(error, StopIteration)
        device_copies.step.end()
        iteration.fact(FACT.ended if is_over else FACT.failed, begin=asked, end=now())
        self._begun = 0
        if self._is_program and isinstance(error, Exception) and not is_over:
            messages.failed(error, None)

    @_guard_batches
    def _taken(self, batch: Any, iteration: Iteration, asked: int) -> None:
        if not self._is_described:
            self._is_described = True
            library.say(what=MESSAGE.loader, iterator=iteration.number,
                        loader=loaders.number_of_foreign(self._loader), **self._describe(batch))
        iteration.fact(FACT.dispatched, iteration.taken, begin=asked)
        self._making.samples = count_samples(batch)
        self._making.finish(batch, by_trainer=True)
        given(iteration, iteration.taken, batch, asked, _with_gradients())
