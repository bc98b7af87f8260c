"""The thread that copies each finished batch into page-locked memory, and that copy without workers."""

import contextlib
from types import ModuleType
from typing import Any, Iterator

from loaderscope_guest import inject, library, worker_queues
from loaderscope_guest.clock import now
from loaderscope_guest.in_hand import in_hand
from loaderscope_guest.protocol import FACT


class _In:
    def __init__(self, queue: Any, iteration: Any) -> None:
        self._queue = queue
        worker_queues.time_receiving(queue, iteration, by_pin_thread=True)

    def get(self, *arguments: Any, **named: Any) -> Any:
        result = self._queue.get(*arguments, **named)
        in_hand.batch = result[0]
        return result


class _Out:
    def __init__(self, queue: Any, iteration: Any) -> None:
        self._queue = queue
        self._iteration = iteration

    def put(self, result: Any, *arguments: Any, **named: Any) -> None:
        at = now()
        self._queue.put(result, *arguments, **named)
        if isinstance(result[0], int):
            self._iteration.fact(FACT.deliverable, result[0], begin=at)


class _Pinning:
    """The outermost call per thread; PyTorch calls it again for the parts of a batch."""

    def __init__(self, original: Any) -> None:
        self._original = original

    def __call__(self, data: Any, *more: Any, **named: Any) -> Any:
        iteration = getattr(in_hand, "iteration", None)
        batch = getattr(in_hand, "batch", None)
        if iteration is None or not isinstance(batch, int):
            return self._original(data, *more, **named)
        in_hand.batch = None
        begun, cpu = now(), library.thread_cpu_ns()
        try:
            inject.apply("pin")
            return self._original(data, *more, **named)
        finally:
            iteration.fact(FACT.pinned, batch=batch, begin=begun, end=now(), cpu=library.thread_cpu_ns() - cpu)


@contextlib.contextmanager
def of_iteration(module: ModuleType, iteration: Any) -> Iterator[None]:
    """Within that of the workers, one thread at a time."""
    pins = module._utils.pin_memory
    loop = pins._pin_memory_loop
    if not isinstance(pins.pin_memory, _Pinning):
        pins.pin_memory = _Pinning(pins.pin_memory)

    def pin_memory_loop(in_queue: Any, out_queue: Any, *more: Any, **named: Any) -> None:
        in_hand.iteration = iteration
        loop(_In(in_queue, iteration), _Out(out_queue, iteration), *more, **named)

    pins._pin_memory_loop = pin_memory_loop
    try:
        yield
    finally:
        pins._pin_memory_loop = loop
