"""The batch that a process makes, and the samples in it."""

import threading
from threading import get_ident
from typing import Any, Callable, Dict, Optional

from loaderscope_guest import inject, library, messages, walks, wrong_data_state
from loaderscope_guest.library import FACT, MESSAGE, SAMPLE, now
from loaderscope_guest.padding import padding
from loaderscope_guest.batch_sizes import Sizes, get_length, count_samples
from loaderscope_guest.user_code import spending

_TINY = 50_000  # ns of a sample
_SAMPLE_COST = 600  # ns, to measure a sample on its own


class Known:
    """State that all iterators of a loader share: the sizes of its batches, and the budget for returning to measuring
    each sample on its own."""

    def __init__(self) -> None:
        self.telling = walks.Budget()
        self.sizes = Sizes()


class Making:
    """The batch that this process makes."""

    def __init__(self, iterator: int, worker: int, known: Optional[Known] = None) -> None:
        """`known`: of its loader, where other iterators may have been before."""
        self.iterator = iterator
        self.worker = worker
        self.generation = 0
        self.batch = -1
        self.samples: Optional[int] = 0  # unset: the number of samples in the data
        self.samples_at_once = 1  # samples that cannot be distinguished
        self.injected: Dict[str, int] = {}  # executions since the last sample began, by stage
        self.dataset: Any = None
        self.has_fetcher = False  # set once per epoch
        self.reports_state = False  # between batches: what gives the samples is then to be found itself
        self.named = True  # samples have numbers that all processes know them by
        self.is_resumed = False  # resumed from an earlier run, with its random numbers
        self.thread = 0  # thread that makes the batch
        known = known or Known()
        self._telling, self._sizes = known.telling, known.sizes
        self._stop_telling: Optional[Callable[[], bool]] = None
        self._count: Optional[Callable[[], int]] = None  # counts the samples of the batch if they are not distinguished
        self._begun = 0
        self._separates_samples = True
        self._is_new = True  # this epoch: it has no batch yet
        self._draws: Any = None

    def is_here(self) -> bool:
        """Is it the calling thread that makes it?"""
        return self.thread == get_ident()

    def fact(self, kind: int, begin: int, end: int = 0, cpu: int = 0, count: int = 0, size: int = 0,
             batch: int = -1) -> None:
        library.fact(kind, self.iterator, self.generation, self.worker, self.batch if batch < 0 else batch, begin,
                     end, cpu, count, size)

    def separate_samples(self, stop: Optional[Callable[[], bool]]) -> None:
        """`stop`: called where that costs about as much as making them; False: not yet. None: it never does."""
        self._separates_samples = True
        self._stop_telling = stop
        self._count = None
        if not self._telling.is_due():
            self._stop_separating_samples()

    def count_by(self, count: Callable[[], int]) -> None:
        self._count = count

    def _stop_separating_samples(self) -> None:
        if self._stop_telling is None or not self._stop_telling():
            return
        self._stop_telling = None
        self._separates_samples = False
        if self.samples:
            self._telling.spend(now() - _SAMPLE_COST * self.samples)
        messages.degraded("samples take so little time that they are not distinguished: their time is their batch's")

    def begin(self, batch: int, rested_since: int, begun: int, keys: Any, is_own: bool = False) -> None:
        """`is_own`: the batch was not dispatched, and begins once the sampler has chosen."""
        entered = 0 if self._stop_telling is None else now()
        if self._is_new:
            self._begin_epoch()
        self.batch = batch
        self.samples = 0
        self.thread = get_ident()
        library.flags.timing = library.begin_batch(self.iterator, self.generation, self.worker, batch, rested_since,
                                                   begun, is_own, not self._separates_samples) != 0
        if entered:
            self._begun = now() if is_own else begun + now() - entered  # excludes the time of the hook itself
        if not self._separates_samples:
            self.samples = (len(keys) if type(keys) is list else get_length(keys)) or None
            if inject.ANY:
                self._begin_stages(self.samples or 1)

    def _begin_epoch(self) -> None:
        self._is_new, entered = False, now()
        if not self.is_resumed and walks.epochs_with_draws.begins():
            with messages.never_failing("the random numbers of a worker are"):
                self._draws = wrong_data_state.FirstDraws(self)
        if self.generation > 0:
            with messages.never_failing("the data set of a worker is"):
                wrong_data_state.say_settings(self.dataset, iterator=self.iterator, generation=self.generation,
                                              worker=self.worker)
        library.took(entered)

    def _end_first_batch(self) -> None:
        entered = now()
        draws, self._draws = self._draws, None
        with messages.never_failing("the random numbers of a worker are"):
            draws.say(self)
        if self.generation == 0:
            messages.say_threads_that_make_batches()
        library.took(entered)

    def finish(self, data: Any, by_trainer: bool) -> None:
        self.thread = 0
        if self._stop_telling is not None or self._count is not None:
            self._count_samples()
        samples = self.samples
        if samples is None:
            at = -library.end_work(by_trainer)
        else:
            at = library.finish(self.iterator, self.generation, self.worker, self.batch, by_trainer, samples, data)
        if at < 0:  # the bytes are unknown
            at = -at
            self._say_finished(at, data)
        if self._draws is not None:
            self._end_first_batch()
        if padding.samples is not None:
            padding.look_at_kept()
        if at >= spending.not_before:
            spending.say(at)
            library.took(at)

    def _count_samples(self) -> None:
        if self._stop_telling is not None and now() - self._begun < _TINY * (self.samples or 0) and not inject.ANY:
            self._stop_separating_samples()
        elif self._count is not None:
            self.samples = self._count()

    def _say_finished(self, at: int, data: Any) -> None:
        count = count_samples(data) if self.samples is None else self.samples
        library.fact(FACT.finished, self.iterator, self.generation, self.worker, self.batch, at, 0, 0, count,
                     self._sizes.count_bytes(data, count))
        library.took(at)

    def whole_batch(self, samples: Optional[int] = None) -> None:
        messages.degraded("the data set gives whole batches: their samples are not distinguished")
        self.samples = samples
        if library.flags.timing:
            library.sample(SAMPLE.whole_batch)
        if inject.ANY:
            self._begin_stages(self.samples or 1)

    def begin_reported_batch(self) -> None:
        """Begins a batch of a data set that returns whole batches, and reports itself when it makes each sample."""
        self.samples = None
        if library.flags.timing:
            library.sample(SAMPLE.between)

    def _begin_stages(self, samples_at_once: int) -> None:
        """Executes the injected delays."""
        self.samples_at_once = samples_at_once
        self.injected.clear()
        for _ in range(samples_at_once):
            inject.once_per_sample("opaque", self)

    def next_epoch(self) -> None:
        self.generation += 1
        self.has_fetcher = False
        self._is_new = True

    def next_sample(self, key: Any, is_name: bool = True) -> None:
        number = key
        if not is_name or type(key) is not int:
            self._say_unnamed()
            number = key if type(key) is int else self.samples
        self.samples = (self.samples or 0) + 1
        if library.flags.timing:
            try:
                library.sample(number)
            except OverflowError:  # the number may be a hash, and too large
                self._say_unnamed()
                library.sample(self.samples - 1)
        if inject.ANY:
            self._begin_stages(1)

    def _say_unnamed(self) -> None:
        if self.named:
            self.named = False
            library.say(what=MESSAGE.unnamed, iterator=self.iterator)


current: Any = None  # the maker of this process, while it makes batches


class _ThreadMaker(threading.local):
    maker: Any = None  # maker of the iterator that the thread works for


thread_state = _ThreadMaker()
