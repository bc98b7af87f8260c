"""The queues between a trainer and its workers, with tasks one way and batches the other way, and the time of
transport. Also the thread that copies each finished batch into page-locked memory, and the same copy without
workers."""

import functools
import multiprocessing.queues
import multiprocessing.resource_sharer
import sys
import threading
import weakref
from typing import Any, Callable, NamedTuple

from loaderscope_guest import batch_work, binding, inject, library, line_sampler, messages, sharing
from loaderscope_guest.identity import IdentityMap
from loaderscope_guest.library import FACT, now


class Spoken(NamedTuple):
    """Contents of a task and of a result, besides the number of the batch."""

    keys_of: Callable[[Any], Any]  # the samples of a task
    data_of: Callable[[Any], Any]  # the data of a result


def _itself(content: Any) -> Any:
    return content


PLAIN = Spoken(_itself, _itself)


class _Watched:
    """Takes the place of a queue."""

    def __init__(self, queue: Any) -> None:
        self._queue = queue

    def __getattr__(self, name: str) -> Any:
        return getattr(self._queue, name)


_TRAVEL = "how batches travel is"
# guards calls that delay no process; the calls that a trainer or a worker waits for have a `try`
_guard_queues = messages.never_failing(_TRAVEL)


class Tasks(_Watched):
    """The worker's queue of tasks."""

    def __init__(self, queue: Any, started: int, spoken: Spoken) -> None:
        super().__init__(queue)
        self._get_keys = spoken.keys_of
        self._started = started
        self._resting = 0

    def get(self, *arguments: Any, **named: Any) -> Any:
        if self._started:
            library.start_up(self._started, now())
            self._started = 0
        since = now()
        task = self._queue.get(*arguments, **named)
        at = now()
        try:
            library.rest(since, at)
            if isinstance(task, tuple) and len(task) == 2:
                batch_work.current.begin(task[0], since, at, self._get_keys(task[1]))
            elif type(task).__name__ == "_ResumeIteration":
                batch_work.current.next_epoch()
        except Exception as error:
            messages.not_seen(_TRAVEL, error)
        return task


class Results(_Watched):
    """The queue to the trainer. What its feeder thread sends is timed."""

    def __init__(self, queue: Any, spoken: Spoken) -> None:
        super().__init__(queue)
        self._get_data = spoken.data_of
        self._sending = _Sending(queue)
        self._is_watched = False

    def put(self, result: Any, *arguments: Any, **named: Any) -> None:
        try:
            if isinstance(result, tuple) and len(result) == 2 and isinstance(result[0], int):
                batch_work.current.finish(self._get_data(result[1]), by_trainer=False)
        except Exception as error:
            messages.not_seen(_TRAVEL, error)
        self._queue.put(result, *arguments, **named)
        if not self._is_watched:
            self._is_watched = True
            with messages.never_failing("the lines of a worker's code are"):
                line_sampler.watch(batch_work.current)


class _Sending:
    """From the begin of pickling until the bytes have been handed over, in the queue's feeder thread. The program may
    have other queues, whose feeders pickle by the same name."""

    def __init__(self, queue: Any) -> None:
        self._queue = queue
        self._thread = threading.local()
        self._send_bytes = queue._send_bytes
        queue._send_bytes = self.send_bytes
        pickler = multiprocessing.queues._ForkingPickler  # type: ignore[attr-defined]
        self.loads = pickler.loads
        self._dumps = pickler.dumps
        multiprocessing.queues._ForkingPickler = self  # type: ignore[attr-defined]
        sharing.time_copies()

    def dumps(self, obj: Any, *more: Any) -> Any:
        """Called instead of the pickler's."""
        is_ours = self.is_feeder()
        if is_ours:
            self.begin(obj)
        pickled = self._dumps(obj, *more)
        if is_ours:
            self.say_pickled(pickled)
        return pickled

    def is_feeder(self) -> bool:
        """Returns whether the calling thread is the feeder. A queue that hides its thread is believed."""
        this = threading.current_thread()
        return getattr(self._queue, "_thread", this) is this

    @_guard_queues
    def begin(self, obj: Any) -> None:
        thread, entered = self._thread, now()
        thread.batch = obj[0] if isinstance(obj, tuple) and len(obj) == 2 and isinstance(obj[0], int) else None
        thread.generation = batch_work.current.generation
        sharing.copied.begin()
        library.took(entered)
        thread.begun, thread.cpu = now(), library.thread_cpu_ns()
        if inject.ANY and thread.batch is not None:
            inject.apply("transport", batch_work.current.worker)
        thread.pickled_from = now()

    @_guard_queues
    def say_pickled(self, data: Any) -> None:
        thread = self._thread
        if getattr(thread, "batch", None) is None:
            return
        maker, copied, at = batch_work.current, sharing.copied, now()
        library.fact(FACT.pickled, maker.iterator, thread.generation, maker.worker, -1, thread.pickled_from, at, 0, 1,
                     len(data))
        if copied.count:
            library.fact(FACT.shared, maker.iterator, thread.generation, maker.worker, -1, thread.pickled_from,
                         thread.pickled_from + copied.spent, 0, copied.count, copied.bytes)
        library.took(at)

    def send_bytes(self, data: Any, *more: Any) -> None:
        self._send_bytes(data, *more)
        self._say_sent()

    @_guard_queues
    def _say_sent(self) -> None:
        thread = self._thread
        if getattr(thread, "batch", None) is not None:
            maker, at = batch_work.current, now()
            library.fact(FACT.sent, maker.iterator, thread.generation, maker.worker, thread.batch, thread.begun,
                         at, library.thread_cpu_ns() - thread.cpu, 0, 0)
            thread.batch = None
            library.took(at)


class _Answers(threading.local):
    """Answers of a worker's process, which is asked for the descriptors of a batch's memory while this thread receives
    the batch. It answers once it has Python's lock."""

    first = waited = count = 0

    def begin(self) -> None:
        self.first = self.waited = self.count = 0

    def add(self, begun: int, ended: int) -> None:
        self.first = self.first or begun
        self.waited += ended - begun
        self.count += 1


_answers = _Answers()


def _time_answers() -> None:
    """Times the answers if descriptors are passed between processes."""
    handle = getattr(multiprocessing.resource_sharer, "DupFd", None)
    if handle is None or hasattr(handle.detach, "__wrapped__"):
        return
    detach = handle.detach

    @functools.wraps(detach)
    def timed_detach(self: Any) -> Any:
        begun = now()
        try:
            return detach(self)
        finally:
            _answers.add(begun, now())

    handle.detach = timed_detach


_PIPE = 65536  # a message of more bytes is waited for: only a clock has the CPU time


def time_receiving(queue: Any, iteration: Any, by_pin_thread: bool = False) -> None:
    """Times the trainer from the first byte of a result until it is an object."""
    _time_answers()
    receive, get = queue._recv_bytes, type(queue).get
    itself = weakref.ref(queue)  # a weak reference, so that the queue ends with its last user, and not at a garbage
                                 # collection
    is_always_clocked = by_pin_thread or bool(inject.ANY)
    begun, is_clocked = 0, is_always_clocked

    def timed_receive(*arguments: Any) -> Any:
        nonlocal begun, is_clocked
        begun = library.begin_receiving(is_clocked)
        if _answers.count:
            _answers.begin()
        message = receive(*arguments)
        is_clocked = is_always_clocked or not isinstance(message, bytes) or len(message) > _PIPE
        return message

    def timed_get(*arguments: Any, **named: Any) -> Any:
        result = get(itself(), *arguments, **named)
        batch = result[0] if isinstance(result, tuple) and result else None
        if isinstance(batch, int):
            try:
                received(batch)
            except Exception as error:
                messages.not_seen(_TRAVEL, error)
        return result

    def received(batch: int) -> None:
        at = now()
        if _answers.count:
            iteration.fact(FACT.answered, batch, begin=_answers.first, end=_answers.first + _answers.waited,
                           count=_answers.count)
        if inject.ANY:
            inject.apply("transport.recv")
            at = now()
        library.received(iteration.number, iteration.generation, batch, begun, _answers.waited, by_pin_thread)
        library.took(at)

    queue._recv_bytes, queue.get = timed_receive, timed_get


pinning = threading.local()  # batch that the calling thread is about to pin: `.iteration` and `.batch`


class _WatchedInput(_Watched):
    def __init__(self, queue: Any, iteration: Any) -> None:
        super().__init__(queue)
        time_receiving(queue, iteration, by_pin_thread=True)

    def get(self, *arguments: Any, **named: Any) -> Any:
        result = self._queue.get(*arguments, **named)
        pinning.batch = result[0] if isinstance(result, tuple) and result else None
        return result


class _Out(_Watched):
    def __init__(self, queue: Any, iteration: Any) -> None:
        super().__init__(queue)
        self._iteration = iteration

    def put(self, result: Any, *arguments: Any, **named: Any) -> None:
        at = now()
        self._queue.put(result, *arguments, **named)
        self._say_put(result, at)

    @_guard_queues
    def _say_put(self, result: Any, at: int) -> None:
        if isinstance(result[0], int):
            self._iteration.fact(FACT.deliverable, result[0], begin=at)


class _Pinning:
    """The outermost call per thread; PyTorch calls it again for the parts of a batch."""

    def __init__(self, original: Any) -> None:
        self._original = original

    def __call__(self, data: Any, *more: Any, **named: Any) -> Any:
        iteration = getattr(pinning, "iteration", None)
        batch = getattr(pinning, "batch", None)
        if iteration is None or not isinstance(batch, int):
            return self._original(data, *more, **named)
        pinning.batch = None
        begun, cpu = now(), library.thread_cpu_ns()
        try:
            inject.apply("pin")
            return self._original(data, *more, **named)
        finally:
            _say_pinned(iteration, batch, begun, cpu)


@_guard_queues
def _say_pinned(iteration: Any, batch: int, begun: int, cpu: int) -> None:
    iteration.fact(FACT.pinned, batch=batch, begin=begun, end=now(), cpu=library.thread_cpu_ns() - cpu)


_iterators = IdentityMap()  # iterators whose batches a thread may copy into page-locked memory


def _iteration_with(queue: Any) -> Any:
    """The iteration whose workers send by that queue; None if it is not measured."""
    for iterator in _iterators.things():
        if iterator.__dict__.get("_worker_result_queue") is queue:
            return iterator.__dict__.get("_loaderscope")
    return None


def _looked_into(loop: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(loop)
    def pin_memory_loop(in_queue: Any, out_queue: Any, *more: Any, **named: Any) -> None:
        inside, outside = in_queue, out_queue
        with messages.never_failing("the thread that pins is"):
            iteration = _iteration_with(in_queue)
            if iteration is not None:
                pinning.iteration = iteration
                binding.bind_pin_thread(iteration.workers)
                inside, outside = _WatchedInput(in_queue, iteration), _Out(out_queue, iteration)
        loop(inside, outside, *more, **named)

    return pin_memory_loop


def watch_pinning(iterator: Any) -> None:
    """Call it before `iterator` is made."""
    pins: Any = sys.modules["torch.utils.data._utils.pin_memory"]
    if not isinstance(pins.pin_memory, _Pinning):
        pins.pin_memory = _Pinning(pins.pin_memory)
        pins._pin_memory_loop = _looked_into(pins._pin_memory_loop)
    _iterators.put(iterator, None)
