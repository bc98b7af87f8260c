"""Batches that the measured DataLoader has delivered: their number, and the batch of each tensor, also after a copy to
a device. A loader of the user, such as a prefetcher, may be between the DataLoader and the trainer of loaderscope.
Its faults are found by comparison."""

import weakref
from itertools import islice
from typing import Any, Callable, Dict, Iterator, List, Optional, Set, Tuple

from loaderscope_guest import messages, settings
from loaderscope_guest.batch_sizes import attribute, is_mapping


_DEEPEST = 4
_PARTS = 16  # tensors of a batch: a few of them identify it
_OBJECTS = 64  # objects of a batch that are examined
_MOST = 1024  # tensors that are known

# False: the batches of tensors are needed only if the trainer is loaderscope's own.
FOLLOWS = bool(settings.TRAINER.get("loader"))


def find_tensors(data: Any) -> Iterator[Any]:
    """The first tensors of a batch, in order."""
    return _find_tensors(data, 0, [_OBJECTS])


def _find_tensors(data: Any, depth: int, left: List[int]) -> Iterator[Any]:
    """`left`: the number of objects that may still be visited."""
    left[0] -= 1
    if callable(attribute(data, "data_ptr")):
        yield data
    elif depth < _DEEPEST:
        parts = data.values() if is_mapping(data) else data if isinstance(data, (list, tuple)) else ()
        for part in islice(parts, _PARTS):
            if left[0] > 0:
                yield from _find_tensors(part, depth + 1, left)


def find_device(data: Any) -> str:
    """The kind of device that a batch's first tensor is on; "cpu" where it has none."""
    for tensor in find_tensors(data):
        return attribute(attribute(tensor, "device"), "type") or "cpu"
    return "cpu"


class Delivered:
    def __init__(self) -> None:
        self.count = 0
        self.waited = 0  # ns, for the last one
        self.waited_for_all = 0  # includes waits for the end of an epoch
        self._whose: Dict[int, Tuple[Any, int]] = {}  # tensor (weakly) and its batch, by identity

    def add(self, data: Any, waited: int) -> None:
        batch, self.count, self.waited = self.count, self.count + 1, waited
        self.waited_for_all += waited
        if FOLLOWS:
            with messages.never_failing("which batch is whose is"):
                for tensor in find_tensors(data):
                    self._remember(tensor, batch)

    def _remember(self, tensor: Any, batch: int) -> None:
        if len(self._whose) >= _MOST:
            del self._whose[next(iter(self._whose))]
        self._whose[id(tensor)] = (weakref.ref(tensor), batch)

    def _find_batch(self, tensor: Any) -> Optional[int]:
        known = self._whose.get(id(tensor))
        return known[1] if known is not None and known[0]() is tensor else None

    def copied(self, tensor: Any, copy: Any) -> None:
        batch = self._find_batch(tensor) if FOLLOWS else None
        if batch is not None:
            self._remember(copy, batch)

    def which(self, data: Any) -> Optional[int]:
        """The number of the batch that `data` is; None: not known."""
        for tensor in find_tensors(data):
            batch = self._find_batch(tensor)
            if batch is not None:
                return batch
        return None


delivered = Delivered()


_LEAST_HELD = 4  # batches, before it is a habit


class NextLoader:
    """A loader that has next() instead of an iterator, and gives None (or a tuple of them) at its end. It has one
    epoch: for the next one another is made."""

    def __init__(self, first: Any, make: Callable[[], Any]) -> None:
        self._first: Any = first
        self._make = make

    def __iter__(self) -> Iterator[Any]:
        loader, self._first = self._first, None
        if loader is None:
            loader = self._make()
        while True:
            batch = loader.next()
            if batch is None or isinstance(batch, (list, tuple)) and all(part is None for part in batch):
                return
            yield batch


def iterable(loader: Any, make: Callable[[], Any]) -> Any:
    """The loader as something to iterate over; None where it is no loader."""
    if hasattr(loader, "__iter__") or hasattr(loader, "__getitem__"):
        return loader
    return NextLoader(loader, make) if callable(getattr(loader, "next", None)) else None


class Handed:
    """Reports faults of the batches that the trainer receives, epoch by epoch."""

    def __init__(self) -> None:
        self._held = 0
        self._held_for = 0  # ns
        self._begin_epoch()

    def _begin_epoch(self) -> None:
        self._first = delivered.count
        self._given = 0
        self._known: Set[int] = set()
        self._first_device: Optional[str] = None

    def end_epoch(self) -> None:
        """A loader may fetch the first batch of the next one before it is asked for it."""
        fetched = delivered.count - self._first
        if self._given < fetched:
            messages.degraded(f"the loader gave {self._given} of the {fetched} batches that its DataLoader delivered "
                              "in an epoch")
        self._begin_epoch()

    def asked(self) -> None:
        self._delivered = delivered.count

    def given(self, batch: Any) -> None:
        self._look_for_repeats(batch)
        self._look_at_device(find_device(batch))
        self._look_for_held()
        self._given += 1

    def _look_for_repeats(self, batch: Any) -> None:
        number = delivered.which(batch)
        if number is None:
            return
        if number in self._known:
            messages.degraded(f"wrong data: the loader gave batch {number - self._first} of an epoch twice")
        self._known.add(number)

    def _look_at_device(self, device: str) -> None:
        if self._first_device is None:
            self._first_device = device
        elif self._first_device == "cpu" and device != "cpu":
            messages.degraded(f"the first batch of an epoch stays on the CPU, others come on {device}")
            self._first_device = device
        if device != "cpu":
            messages.degraded(f"batches come on {device} already: the trainer copies nothing, h2d is what the "
                              "loader's own copies took")

    def _look_for_held(self) -> None:
        """Counts a batch that was already fetched when its loader fetched another one."""
        fetched = delivered.count - self._delivered
        if fetched == 1 and delivered.count - self._first >= self._given + 2:
            self._held += 1
            self._held_for += delivered.waited

    def end(self) -> None:
        if self._held >= _LEAST_HELD:
            messages.degraded(
                f"the loader holds a ready batch until its DataLoader has given the next one: each of {self._held} "
                f"batches came {self._held_for / self._held / 1e6:.1f} ms late; let it give a batch before it "
                "fetches the next")
