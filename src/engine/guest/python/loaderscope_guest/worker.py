"""What a worker process does: its tasks, its samples, and how its batches leave it."""

import contextlib
import functools
import inspect
import multiprocessing.queues
import os
import threading
from threading import get_ident
from types import ModuleType
from typing import Any, Callable, Dict, Iterator, Optional

from loaderscope_guest import (data_identity, dataset_values, hooks, inject, library, messages, random_numbers,
                               threads)
from loaderscope_guest.clock import now
from loaderscope_guest.in_hand import in_hand
from loaderscope_guest.padding import padding
from loaderscope_guest.settings import RANK
from loaderscope_guest.sizes import bytes_of, samples_of
from loaderscope_guest.stages import COLLATE
from loaderscope_guest.user_code import spending


class Making:
    """The batch that this process makes."""

    def __init__(self, iterator: int, worker: int) -> None:
        self.iterator = iterator
        self.worker = worker
        self.generation = 0
        self.batch = -1
        self.samples: Optional[int] = 0  # None: those of the data
        self.depth = 0  # of stages that are entered
        self.samples_at_once = 1  # that are not told apart
        self.injected: Dict[str, int] = {}  # by stage: how often since the last sample began
        self.dataset: Any = None
        self.named = True  # samples have numbers that all processes know them by
        self._thread = 0
        self._fetcher: Any = None  # whose data set tells samples apart
        self._begun = 0
        self._tells_samples = True
        self._batches = 0  # of this epoch
        self._draws: Any = None
        self.named_inside = 0  # ns of the callees that are known by name

    def is_here(self) -> bool:
        """Is it the calling thread that makes it?"""
        return self._thread == get_ident()

    def fact(self, kind: int, begin: int, end: int = 0, cpu: int = 0, count: int = 0, size: int = 0,
             batch: int = -1) -> None:
        library.fact(kind, self.iterator, self.generation, self.worker, self.batch if batch < 0 else batch, begin,
                     end, cpu, count, size)

    def watch(self, fetcher: Any) -> None:
        """Whether it is worth its while that samples are told apart; a data set that gives whole batches does not."""
        self._tells_samples = True
        dataset = getattr(fetcher, "dataset", None)
        if isinstance(dataset, _Dataset) and fetcher.auto_collation and not hasattr(dataset, "__getitems__"):
            self._fetcher = fetcher

    def _stop_telling_samples_apart(self) -> None:
        """Where that costs about as much as making them."""
        fetcher, self._fetcher = self._fetcher, None
        fetcher.dataset = fetcher.dataset._loaderscope_dataset
        self._tells_samples = False
        messages.degraded("samples take so little time that they are not told apart: their time is their batch's")

    def begin(self, batch: int, rested_since: int, begun: int, keys: Any) -> None:
        entered = now()
        if self._batches == 0:
            self._begin_epoch()
        self._batches += 1
        self.batch = batch
        self.samples = 0
        self._thread = get_ident()
        library.flags.look()
        library.begin_batch(self.iterator, self.generation, batch)
        if not library.flags.timing or not self._tells_samples:
            library.sample(_WHOLE_BATCH)  # opaque, all of it
        self._begun = begun + now() - entered  # what we did ourselves is none of its time
        self.fact(library.BEGUN, rested_since, begun)
        if not self._tells_samples:
            self.samples = len(keys)
            self._begin_stages(self.samples or 1)

    def _begin_epoch(self) -> None:
        with messages.never_failing("the random numbers of a worker are"):
            self._draws = random_numbers.FirstDraws(self)
        if self.generation > 0:
            with messages.never_failing("the data set of a worker is"):
                library.say(what="settings", iterator=self.iterator, generation=self.generation, worker=self.worker,
                            values=dataset_values.settings_of(self.dataset))

    def _end_first_batch(self) -> None:
        draws, self._draws = self._draws, None
        with messages.never_failing("the random numbers of a worker are"):
            draws.say(self)
        if self.generation == 0:
            threads.say()

    def finish(self, data: Any, by_trainer: bool) -> None:
        self._thread = 0
        if self._fetcher is not None and now() - self._begun < _TINY * self.samples and not inject.any_declared():
            self._stop_telling_samples_apart()
        library.end_work(by_trainer)
        count = samples_of(data) if self.samples is None else self.samples
        self.fact(library.FINISHED, now(), count=count, size=bytes_of(data))
        if self._draws is not None:
            self._end_first_batch()
        spending.say()

    def whole_batch(self, samples: Optional[int] = None) -> None:
        messages.degraded("the data set gives whole batches: their samples are not told apart")
        self.samples = samples
        if library.flags.timing:
            library.sample(_WHOLE_BATCH)
        self._begin_stages(self.samples or 1)

    def _begin_stages(self, samples_at_once: int) -> None:
        self.depth = 0
        self.samples_at_once = samples_at_once
        self.injected.clear()
        for _ in range(samples_at_once):
            inject.once_per_sample("opaque", self)

    def next_epoch(self) -> None:
        self.generation += 1
        self._batches = 0

    def next_sample(self, key: Any, is_name: bool = True) -> None:
        if self.named and not (is_name and type(key) is int):
            self.named = False
            library.say(what="unnamed")
        number = key if type(key) is int else self.samples
        self.samples = (self.samples or 0) + 1
        if library.flags.timing:
            library.sample(number)
        self._begin_stages(1)


_BETWEEN_SAMPLES, _WHOLE_BATCH = -1, -2
_TINY = 50_000  # ns of a sample

making: Any = None  # of this process, while it makes batches


class _Dataset:
    """The data set, as the fetcher sees it."""

    def __init__(self, dataset: Any, gives_batches: bool) -> None:
        self._loaderscope_dataset = dataset
        self._loaderscope_gives_batches = gives_batches
        if getattr(dataset, "__getitems__", None):
            self.__getitems__ = self._many

    def __getitem__(self, key: Any) -> Any:
        if self._loaderscope_gives_batches:
            making.whole_batch()
        else:
            making.next_sample(key)
        return self._loaderscope_dataset[key]

    def _many(self, keys: Any) -> Any:
        making.whole_batch(len(keys))
        return self._loaderscope_dataset.__getitems__(keys)

    def __getattr__(self, name: str) -> Any:
        if name == "__getitems__":
            raise AttributeError(name)
        return getattr(self._loaderscope_dataset, name)


class _Samples:
    """The iterator of an iterable data set."""

    def __init__(self, iterator: Iterator[Any], dataset: Any, gives_batches: bool) -> None:
        from torch.utils.data import get_worker_info

        self._iterator = iterator
        self._gives_batches = gives_batches
        self._count = 0
        info = get_worker_info()
        self._identity = data_identity.Stream(info.num_workers if info else 1, data_identity.length_of(dataset))

    def __iter__(self) -> "_Samples":
        return self

    def __next__(self) -> Any:
        if self._gives_batches:
            making.whole_batch()
        else:
            making.next_sample(self._count, is_name=False)
        self._count += 1
        try:
            sample = next(self._iterator)
        except StopIteration:
            making.samples = max(0, (making.samples or 0) - 1)
            self._identity.end(making)
            raise
        self._identity.add(making, sample)
        return sample


def _timed_collate(collate: Callable[[Any], Any]) -> Callable[[Any], Any]:
    @functools.wraps(collate, updated=())
    def timed(samples: Any) -> Any:
        if not library.flags.timing or not making.is_here():
            return collate(samples)
        library.sample(_BETWEEN_SAMPLES)
        library.enter(COLLATE)
        making.depth += 1
        inject.apply("collate", making.worker)
        try:
            batch = collate(samples)
        finally:
            making.depth -= 1
            library.leave(0)
        with messages.never_failing("padding is"):
            padding.look(samples, batch)
        return batch

    return timed


def _hook_fetcher(fetcher: Any) -> Any:
    """Of a process that makes batches. A part that a fetcher of this version does not have stays opaque."""
    if making is None:
        return fetcher
    making.dataset = getattr(fetcher, "dataset", None)
    gives_batches = not getattr(fetcher, "auto_collation", True)  # batch_size=None
    if hasattr(fetcher, "dataset_iter"):
        fetcher.dataset_iter = _Samples(fetcher.dataset_iter, making.dataset, gives_batches)
    elif hasattr(fetcher, "dataset"):
        fetcher.dataset = _Dataset(fetcher.dataset, gives_batches)
        making.watch(fetcher)
    else:
        messages.degraded("the fetcher of this PyTorch has no data set: samples are not told apart")
    if callable(getattr(fetcher, "collate_fn", None)):
        fetcher.collate_fn = _timed_collate(fetcher.collate_fn)
    return fetcher


class _Tasks:
    """The worker's queue of tasks."""

    def __init__(self, queue: Any, started: int) -> None:
        self._queue = queue
        self._started = started
        self._resting = 0

    def get(self, *arguments: Any, **named: Any) -> Any:
        if self._started:
            library.start_up(self._started, now())
            self._started = 0
        since = now()
        task = self._queue.get(*arguments, **named)
        at = now()
        library.rest(since, at)
        if isinstance(task, tuple) and len(task) == 2:
            making.begin(task[0], since, now(), task[1])
        elif type(task).__name__ == "_ResumeIteration":
            making.next_epoch()
        return task

    def __getattr__(self, name: str) -> Any:
        return getattr(self._queue, name)


class _Results:
    """The queue to the trainer. What its feeder thread sends is timed."""

    def __init__(self, queue: Any) -> None:
        self._queue = queue
        self._sending = _Sending(queue)

    def put(self, result: Any, *arguments: Any, **named: Any) -> None:
        if isinstance(result, tuple) and len(result) == 2 and isinstance(result[0], int):
            making.finish(result[1], by_trainer=False)
        self._queue.put(result, *arguments, **named)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._queue, name)


class _Sending:
    """From the begin of pickling until the bytes have been handed over, in the queue's feeder thread."""

    def __init__(self, queue: Any) -> None:
        self._thread = threading.local()
        self._send_bytes = queue._send_bytes
        queue._send_bytes = self.send_bytes
        pickler = multiprocessing.queues._ForkingPickler  # type: ignore[attr-defined]
        sending = self

        class Pickler:
            loads = pickler.loads

            @staticmethod
            def dumps(obj: Any, *more: Any) -> Any:
                sending.begin(obj)
                return pickler.dumps(obj, *more)

        multiprocessing.queues._ForkingPickler = Pickler  # type: ignore[attr-defined]

    def begin(self, obj: Any) -> None:
        thread = self._thread
        thread.batch = obj[0] if isinstance(obj, tuple) and len(obj) == 2 and isinstance(obj[0], int) else None
        thread.generation = making.generation
        thread.begun, thread.cpu = now(), library.thread_cpu_ns()
        if thread.batch is not None:
            inject.apply("transport", making.worker)

    def send_bytes(self, data: Any, *more: Any) -> None:
        self._send_bytes(data, *more)
        thread = self._thread
        if getattr(thread, "batch", None) is not None:
            library.fact(library.SENT, making.iterator, thread.generation, making.worker, thread.batch, thread.begun,
                         now(), library.thread_cpu_ns() - thread.cpu, 0, 0)
            thread.batch = None


class WorkerLoop:
    """Takes the place of torch.utils.data._utils.worker._worker_loop, the target of a worker process. Also after
    `spawn`, which pickles it."""

    def __init__(self, iterator: int, started: int) -> None:
        self.iterator = iterator
        self.started = started
        self.trainer = os.getpid()

    def __call__(self, *arguments: Any, **named: Any) -> None:
        from torch.utils.data._utils import worker as original

        loop = _original_loop or original._worker_loop
        try:
            hooks.install()  # a process without our environment has none
            arguments, named = self._hook(loop, arguments, named)
        except Exception as error:
            messages.degraded(f"a worker is not looked into: {error!r}")
        loop(*arguments, **named)

    def _hook(self, loop: Callable[..., None], arguments: Any, named: Any) -> Any:
        global making
        bound = inspect.signature(loop).bind(*arguments, **named)
        number = bound.arguments["worker_id"]
        if not library.join(role="worker", rank=RANK, iterator=self.iterator, worker=number,
                            trainer=self.trainer):
            return arguments, named
        making = Making(self.iterator, number)
        inject.apply("startup", number)
        bound.arguments["index_queue"] = _Tasks(bound.arguments["index_queue"], self.started)
        bound.arguments["data_queue"] = _Results(bound.arguments["data_queue"])
        return bound.args, bound.kwargs


_original_loop: Any = None


@contextlib.contextmanager
def of_iteration(module: ModuleType, iteration: Any) -> Iterator[None]:
    """While an iterator is made: its workers, or with 0 workers the trainer itself, are looked into."""
    global making, _original_loop
    utils = module._utils.worker
    if _original_loop is None:
        _original_loop = utils._worker_loop
    utils._worker_loop = WorkerLoop(iteration.number, iteration.begun)
    before, making = making, Making(iteration.number, 0)
    try:
        yield
    finally:
        utils._worker_loop = _original_loop
        making = before


class InTrainer:
    """The fetcher of an iterator without workers."""

    def __init__(self, fetcher: Any, maker: Making) -> None:
        self._fetcher = fetcher
        self._making = maker
        self._making.watch(fetcher)
        self._batch = 0
        self._begun = 0

    def begin(self) -> None:
        """Before the sampler says which samples are next: that is part of the batch's making."""
        self._begun = now()
        library.rest(self._begun, self._begun)

    def end(self) -> None:
        """The sampler has none left."""
        library.begin_batch(self._making.iterator, self._making.generation, self._batch)
        library.end_work(True)

    def fetch(self, index: Any) -> Any:
        global making
        before, making = making, self._making
        batch, self._batch = self._batch, self._batch + 1
        at, self._begun = self._begun or now(), 0
        self._making.fact(library.DISPATCHED, at, batch=batch)
        self._making.begin(batch, at, at, index)
        data = None
        try:
            data = self._fetcher.fetch(index)
        finally:
            self._making.finish(data, by_trainer=True)
            making = before
            in_hand.iteration, in_hand.batch = self._making, batch
        return data

    def __getattr__(self, name: str) -> Any:
        return getattr(self._fetcher, name)


def time_receiving(queue: Any, iteration: Any, by_pin_thread: bool = False) -> None:
    """In the trainer: from the first byte of a result until it is an object."""
    receive, get = queue._recv_bytes, queue.get
    begun = [0, 0]

    def timed_receive(*arguments: Any) -> Any:
        begun[0], begun[1] = now(), library.thread_cpu_ns()
        return receive(*arguments)

    def timed_get(*arguments: Any, **named: Any) -> Any:
        result = get(*arguments, **named)
        batch = result[0] if isinstance(result, tuple) else None
        if isinstance(batch, int):
            inject.apply("transport.recv")
            iteration.fact(library.RECEIVED, batch, begin=begun[0], end=now(),
                           cpu=library.thread_cpu_ns() - begun[1], count=int(by_pin_thread))
        return result

    queue._recv_bytes, queue.get = timed_receive, timed_get


def install(module: ModuleType) -> None:
    kinds = module._DatasetKind
    original = kinds.create_fetcher

    def create_fetcher(*arguments: Any, **named: Any) -> Any:
        fetcher = original(*arguments, **named)
        try:
            return _hook_fetcher(fetcher)
        except Exception as error:
            messages.degraded(f"samples are not told apart: {error!r}")
            return fetcher

    kinds.create_fetcher = staticmethod(create_fetcher)
    single = module._SingleProcessDataLoaderIter.__init__

    @functools.wraps(single)
    def with_fetcher(self: Any, loader: Any, *more: Any, **named: Any) -> None:
        single(self, loader, *more, **named)
        if self.__dict__.get("_loaderscope") is not None and hasattr(self, "_dataset_fetcher"):
            maker = Making(self._loaderscope.number, 0)
            maker.dataset = loader.dataset
            self._dataset_fetcher = InTrainer(self._dataset_fetcher, maker)

    module._SingleProcessDataLoaderIter.__init__ = with_fetcher
