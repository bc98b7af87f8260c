"""The makers of batches: a worker process, whose loop receives hooked arguments, or the trainer itself if an iterator
has no workers."""

import contextlib
import functools
import importlib
import inspect
import itertools
import os
import sys
import threading
from multiprocessing import reduction
from multiprocessing.process import BaseProcess
from typing import Any, Callable, Dict, Iterator, NamedTuple

from loaderscope_guest import batch_work, binding, garbage, inject, library, library_threads, messages, worker_pickle
from loaderscope_guest.library import FACT, ROLE, now
from loaderscope_guest.queues import PLAIN, Results, Spoken, Tasks, pinning
from loaderscope_guest.settings import RANK


_MAKING = "how a trainer makes its batches is"


class TrainerFetcher:
    """The fetcher of an iterator without workers."""

    def __init__(self, fetcher: Any, maker: batch_work.Making, pins: bool) -> None:
        """`pins`: what it has made is copied into page-locked memory in the same thread."""
        self._fetcher = fetcher
        self._pins = pins
        self._making = maker
        self._batch = 0

    def end(self) -> None:
        """The sampler has none left."""
        at = now()
        library.rest(at, at)  # a rest that takes time would be a span of no iterator's
        library.begin_work(self._making.iterator, self._making.generation, self._batch, False)
        library.end_work(True)

    def fetch(self, index: Any) -> Any:
        maker = self._making
        before, batch_work.current = batch_work.current, maker
        batch, self._batch = self._batch, self._batch + 1
        try:
            maker.begin(batch, 0, 0, index, True)
        except Exception as error:
            messages.not_seen(_MAKING, error)
        data = None
        try:
            data = self._fetcher.fetch(index)
        finally:
            try:
                maker.finish(data, True)
            except Exception as error:
                messages.not_seen(_MAKING, error)
            batch_work.current = before
            if self._pins:
                pinning.iteration, pinning.batch = maker, batch
        return data

    def __getattr__(self, name: str) -> Any:
        return getattr(self._fetcher, name)


def install_in_trainer(iterator: Any) -> None:
    """`iterator`: the class of those without workers."""
    single = iterator.__init__

    @functools.wraps(single)
    def with_fetcher(self: Any, loader: Any, *more: Any, **named: Any) -> None:
        single(self, loader, *more, **named)
        if self.__dict__.get("_loaderscope") is not None and hasattr(self, "_dataset_fetcher"):
            with messages.never_failing(_MAKING):
                self._dataset_fetcher = TrainerFetcher(self._dataset_fetcher, self._loaderscope.making,
                                                  bool(getattr(self, "_pin_memory", False)))

    iterator.__init__ = with_fetcher


class Home(NamedTuple):
    """Modules of an iterator's worker loop, and its format of tasks and results."""

    looked_up_in: str  # a module: its `_worker_loop` starts them
    defined_in: str  # the module that defines it
    spoken: Spoken
    reports_state: bool  # between batches: of what gives the samples


TORCH = Home("torch.utils.data._utils.worker", "torch.utils.data._utils.worker", PLAIN, reports_state=False)


class WorkerLoop:
    """Takes the place of `_worker_loop`, the target of a worker process. Also after `spawn`, which pickles it."""

    def __init__(self, home: Home, iterator: int, started: int) -> None:
        self.begin = _begin_in_worker
        self.home = home
        self.iterator = iterator
        self.started = started
        self.trainer = os.getpid()
        self.program = library.PROGRAM  # number of the trainer's program
        self.reached = 0

    def __setstate__(self, state: Dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.reached = now()  # the data set is unpickled after this

    def __call__(self, *arguments: Any, **named: Any) -> None:
        read = now()
        loop = _original_loops.get(self.home.defined_in)
        if loop is None:
            loop = getattr(importlib.import_module(self.home.defined_in), "_worker_loop")
        try:
            self.begin()  # a process without our environment has no hooks
            arguments, named = self._hook(loop, arguments, named)
            if self.reached:
                worker_pickle.say_read(self.reached - self.started, read - self.reached)
        except Exception as error:
            messages.degraded(f"a worker is not looked into: {error!r}")
        loop(*arguments, **named)

    def _hook(self, loop: Callable[..., None], arguments: Any, named: Any) -> Any:
        bound = inspect.signature(loop).bind(*arguments, **named)
        number = bound.arguments["worker_id"]
        binding.bind_worker(number, bound.arguments.get("num_workers"))
        if not library.join(role=ROLE.worker, rank=RANK, iterator=self.iterator, worker=number,
                            trainer=self.trainer, program=self.program):
            return arguments, named
        messages.offer_stacks()
        batch_work.thread_state.maker = None  # a fork leaves the trainer's, which has its fetcher already
        garbage.watch()
        library_threads.watch()
        batch_work.current = batch_work.Making(self.iterator, number)
        batch_work.current.reports_state = self.home.reports_state
        batch_work.current.is_resumed = bound.arguments.get("worker_state") is not None
        inject.apply("startup", number)
        spoken = self.home.spoken
        bound.arguments["index_queue"] = Tasks(bound.arguments["index_queue"], self.started, spoken)
        bound.arguments["data_queue"] = Results(bound.arguments["data_queue"], spoken)
        return bound.args, bound.kwargs


class _Workers:
    """The workers of an iterator that the calling thread makes."""

    def __init__(self, home: Home, iteration: Any) -> None:
        self.loop = getattr(sys.modules[home.looked_up_in], "_worker_loop")
        _original_loops.setdefault(home.defined_in, self.loop)
        self._ours = WorkerLoop(home, iteration.number, iteration.begun)
        self._iteration = iteration
        self._numbers = itertools.count()

    def start(self, start: Callable[[Any], None], process: Any) -> None:
        """Starts a worker, and reports the time that this takes in the trainer's thread."""
        process._target = self._ours
        garbage.before_fork()
        self._ours.started, cpu = now(), library.thread_cpu_ns()
        begun = self._ours.started
        start(process)
        self._iteration.fact(FACT.started, worker=next(self._numbers), begin=begun, end=now(),
                             cpu=library.thread_cpu_ns() - cpu)


class _ThreadWorkers(threading.local):
    workers: Any = None  # the workers of the iterator that is being made


_thread_workers = _ThreadWorkers()


def _timed_start(start: Callable[[Any], None]) -> Callable[[Any], None]:
    """Replaces the `start` of all processes that the program starts by `multiprocessing`."""

    @functools.wraps(start)
    def timed(process: Any) -> None:
        workers = _thread_workers.workers
        if workers is None or getattr(process, "_target", None) is not workers.loop:
            return start(process)
        workers.start(start, process)

    return timed


_begin_in_worker: Callable[[], None] = lambda: None
_original_loops: Dict[str, Any] = {}  # original loops by defining module; empty in a spawned process


@contextlib.contextmanager
def hook_iteration(home: Home, iteration: Any) -> Iterator[None]:
    """While an iterator is made: its workers, or with 0 workers the trainer itself, are looked into. The program's own code
    runs meanwhile, in this thread and in others that may make iterators too."""
    iteration.making.reports_state = home.reports_state
    before, batch_work.thread_state.maker = batch_work.thread_state.maker, iteration.making
    others, _thread_workers.workers = _thread_workers.workers, _Workers(home, iteration)
    try:
        yield
    finally:
        _thread_workers.workers = others
        batch_work.thread_state.maker = before


def install(begin_in_worker: Callable[[], None]) -> None:
    """`begin_in_worker`: begins measuring in a process that is to be a worker. It can be pickled."""
    global _begin_in_worker
    _begin_in_worker = begin_in_worker
    setattr(BaseProcess, "start", _timed_start(BaseProcess.start))
    setattr(reduction, "dump", worker_pickle.sized(reduction.dump, WorkerLoop))
