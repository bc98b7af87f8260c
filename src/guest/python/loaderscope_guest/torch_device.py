"""The GPU of our trainer, by the program's own PyTorch: batches are copied by Tensor.to, steps computed for as long as
--compute says, and the times are those of CUDA events."""

from collections import deque
from collections.abc import Mapping
from typing import Any, Callable, Deque, Dict, List, NamedTuple, Optional, Tuple

from loaderscope_guest import device_copies, inject, library, messages
from loaderscope_guest.delivered import delivered, find_device
from loaderscope_guest.library import FACT
from loaderscope_guest.torch_compute import Compute

_ANCHOR_EVERY = 1_000_000_000  # ns: clocks drift apart by some 10 us in a second
_TRIES = 5


def refuse_without_gpu() -> None:
    import torch

    if not torch.cuda.is_available():
        messages.refuse(f"device = cuda: PyTorch {torch.__version__} finds no GPU here; look at 'nvidia-smi' and "
                        "CUDA_VISIBLE_DEVICES, or give --device sim")


def moved(data: Any, move: Callable[[Any], Any]) -> Any:
    """A batch with every tensor in it moved."""
    if callable(getattr(data, "data_ptr", None)):
        return move(data)
    if isinstance(data, Mapping):
        return {key: moved(part, move) for key, part in data.items()}
    if isinstance(data, (list, tuple)):
        return [moved(part, move) for part in data]
    return data


class _Clock:
    """Events on the host's clock: by the time elapsed from one whose host time is known."""

    def __init__(self, cuda: Any, now: Callable[[], int]) -> None:
        self._cuda = cuda
        self._now = now
        self._stream = cuda.Stream()  # stream of its own: it never waits for a copy or a compute
        self._event, self._at = self._anchor()

    def _anchor(self) -> Tuple[Any, int]:
        tries = []
        for _ in range(_TRIES):
            event = self._cuda.Event(enable_timing=True)
            before = self._now()
            event.record(self._stream)
            event.synchronize()
            after = self._now()
            tries.append((after - before, (before + after) // 2, event))
        _, at, event = min(tries, key=lambda one: one[0])
        return event, at

    def keep(self) -> None:
        if self._now() - self._at > _ANCHOR_EVERY:
            self._event, self._at = self._anchor()

    def host_time(self, event: Any) -> int:
        return self._at + round(self._event.elapsed_time(event) * 1e6)


class _Step(NamedTuple):
    taken: int
    copy: Optional[Tuple[Any, Any]]  # events
    compute: Tuple[Any, Any]
    amount: int  # amount of the compute
    held: Any  # the batch, here and there, until it is computed


class TorchDevice:
    """Steps are copied and computed in order; `in_flight` of them at once."""

    def __init__(self, trainer: Dict[str, Any], torch: Any, now: Callable[[], int] = library.now) -> None:
        self._trainer = trainer
        self._cuda = torch.cuda
        self._clock = _Clock(torch.cuda, now)
        times = trainer["compute"]
        self._compute = Compute(torch, trainer["products"], sum(times) / len(times))
        self._spin = Compute(torch, False) if trainer["products"] else self._compute
        self._copy_stream = torch.cuda.Stream() if trainer["own_copy_stream"] else torch.cuda.current_stream()
        self._steps: Deque[_Step] = deque()
        self._count = 0
        messages.degraded(f"GPU: {torch.cuda.get_device_name()}, by PyTorch {torch.__version__}")

    def wait_for_room(self) -> None:
        while len(self._steps) >= self._trainer["in_flight"]:
            self._steps[0].compute[1].synchronize()
            self._collect()

    def train(self, batch: Any, size: int) -> None:
        """Submits the copy and the compute of one step."""
        device_copies.step.end()  # later copies do not belong to the loader
        self._clock.keep()
        copy, there = self._copied(batch) if find_device(batch) == "cpu" else (None, batch)
        if copy is not None and self._trainer["own_copy_stream"]:
            self._cuda.current_stream().wait_event(copy[1])
        begin = self._mark()
        times: List[int] = self._trainer["compute"]
        amount = self._compute.launch(times[self._count % len(times)])
        end = self._mark()
        self._steps.append(_Step(delivered.count - 1, copy, (begin, end), amount, (batch, there)))
        self._count += 1
        self._collect()

    def _mark(self) -> Any:
        event = self._cuda.Event(enable_timing=True, blocking=True)
        event.record()
        return event

    def _copied(self, batch: Any) -> Any:
        sync = bool(self._trainer["sync_copies"])
        with self._cuda.stream(self._copy_stream):
            begin = self._mark()
            there = moved(batch, lambda tensor: tensor.to("cuda", non_blocking=not sync))
            self._spin.launch(inject.extra("h2d") * 1e9)
            end = self._mark()
        if sync:
            end.synchronize()
        return (begin, end), there

    def _collect(self) -> None:
        while self._steps and self._steps[0].compute[1].query():
            step = self._steps.popleft()
            if step.copy is not None:
                self._report(FACT.copied, step.taken, step.copy)
            self._compute.correct(step.amount, self._report(FACT.computed, step.taken, step.compute))

    def _report(self, kind: int, taken: int, events: Tuple[Any, Any]) -> int:
        """Reports a fact and returns its duration in ns."""
        begin, end = (self._clock.host_time(event) for event in events)
        library.fact(kind, 0, 0, 0, -1, begin, max(begin, end), 0, taken, 0)
        return max(0, end - begin)

    def finish(self) -> None:
        while self._steps:
            self._steps[0].compute[1].synchronize()
            self._collect()
