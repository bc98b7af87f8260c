"""A worker process: what its loop is handed so that it can be looked into."""

import contextlib
import functools
import inspect
import itertools
import os
from multiprocessing.process import BaseProcess
from types import ModuleType
from typing import Any, Callable, Iterator

from loaderscope_guest import inject, library, making, messages
from loaderscope_guest.clock import now
from loaderscope_guest.protocol import FACT, ROLE
from loaderscope_guest.settings import RANK
from loaderscope_guest.turns import Turn
from loaderscope_guest.worker_queues import Results, Tasks


class WorkerLoop:
    """Takes the place of torch.utils.data._utils.worker._worker_loop, the target of a worker process. Also after
    `spawn`, which pickles it."""

    def __init__(self, iterator: int, started: int) -> None:
        self.begin = _begin_in_worker
        self.iterator = iterator
        self.started = started
        self.trainer = os.getpid()

    def __call__(self, *arguments: Any, **named: Any) -> None:
        from torch.utils.data._utils import worker as original

        loop = _original_loop or original._worker_loop
        try:
            self.begin()  # a process without our environment has no hooks
            arguments, named = self._hook(loop, arguments, named)
        except Exception as error:
            messages.degraded(f"a worker is not looked into: {error!r}")
        loop(*arguments, **named)

    def _hook(self, loop: Callable[..., None], arguments: Any, named: Any) -> Any:
        bound = inspect.signature(loop).bind(*arguments, **named)
        number = bound.arguments["worker_id"]
        if not library.join(role=ROLE.worker, rank=RANK, iterator=self.iterator, worker=number,
                            trainer=self.trainer):
            return arguments, named
        making.current = making.Making(self.iterator, number)
        inject.apply("startup", number)
        bound.arguments["index_queue"] = Tasks(bound.arguments["index_queue"], self.started)
        bound.arguments["data_queue"] = Results(bound.arguments["data_queue"])
        return bound.args, bound.kwargs


def _timed_start(start: Callable[[Any], None], loop: WorkerLoop, iteration: Any) -> Callable[[Any], None]:
    """What the trainer's thread takes to start each of the workers, whichever way."""
    numbers = itertools.count()

    @functools.wraps(start)
    def timed(process: Any) -> None:
        if getattr(process, "_target", None) is not loop:
            return start(process)
        loop.started, cpu = now(), library.thread_cpu_ns()
        begun = loop.started
        start(process)
        iteration.fact(FACT.started, worker=next(numbers), begin=begun, end=now(),
                       cpu=library.thread_cpu_ns() - cpu)

    return timed


_begin_in_worker: Callable[[], None] = lambda: None
_original_loop: Any = None
_turn = Turn()  # what is swapped belongs to all threads


@contextlib.contextmanager
def of_iteration(module: ModuleType, iteration: Any) -> Iterator[None]:
    """While an iterator is made: its workers, or with 0 workers the trainer itself, are looked into."""
    global _original_loop
    utils = module._utils.worker
    if _original_loop is None:
        _original_loop = utils._worker_loop
    with _turn():
        utils._worker_loop = WorkerLoop(iteration.number, iteration.begun)
        before, making.current = making.current, iteration.making
        start = BaseProcess.start
        setattr(BaseProcess, "start", _timed_start(start, utils._worker_loop, iteration))
        try:
            yield
        finally:
            setattr(BaseProcess, "start", start)
            utils._worker_loop = _original_loop
            making.current = before


def install(begin_in_worker: Callable[[], None]) -> None:
    """`begin_in_worker`: begins measuring in a process that is to be a worker. It can be pickled."""
    global _begin_in_worker
    _begin_in_worker = begin_in_worker
