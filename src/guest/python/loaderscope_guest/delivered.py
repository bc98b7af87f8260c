"""What the measured DataLoader has delivered to the program: how many batches, and which tensors are whose, also after
they were copied to a device."""

import weakref
from collections.abc import Mapping
from typing import Any, Dict, Iterator, Optional, Tuple

from loaderscope_guest import messages, settings
from loaderscope_guest.sizes import attribute

_DEEPEST = 4
_PARTS = 16  # of a batch: some of its tensors tell which one it is
_MOST = 1024  # tensors that are known

# Who takes batches is asked only where the trainer is ours.
_follows = bool(settings.TRAINER.get("loader"))


def tensors_of(data: Any, depth: int = 0) -> Iterator[Any]:
    """The first tensors of a batch, in order."""
    if callable(attribute(data, "data_ptr")):
        yield data
    elif depth < _DEEPEST:
        parts = data.values() if isinstance(data, Mapping) else data if isinstance(data, (list, tuple)) else ()
        for part in list(parts)[:_PARTS]:
            yield from tensors_of(part, depth + 1)


def device_of(data: Any) -> str:
    """The kind of device that a batch's first tensor is on; "cpu" where it has none."""
    for tensor in tensors_of(data):
        return attribute(attribute(tensor, "device"), "type") or "cpu"
    return "cpu"


class Delivered:
    def __init__(self) -> None:
        self.count = 0
        self.waited = 0  # ns, for the last one
        self._whose: Dict[int, Tuple[Any, int]] = {}  # by identity: the tensor, weakly, and its batch

    def add(self, data: Any, waited: int) -> None:
        batch, self.count, self.waited = self.count, self.count + 1, waited
        if _follows:
            with messages.never_failing("which batch is whose is"):
                for tensor in tensors_of(data):
                    self._remember(tensor, batch)

    def _remember(self, tensor: Any, batch: int) -> None:
        if len(self._whose) >= _MOST:
            del self._whose[next(iter(self._whose))]
        self._whose[id(tensor)] = (weakref.ref(tensor), batch)

    def _batch_of(self, tensor: Any) -> Optional[int]:
        known = self._whose.get(id(tensor))
        return known[1] if known is not None and known[0]() is tensor else None

    def copied(self, tensor: Any, copy: Any) -> None:
        batch = self._batch_of(tensor) if _follows else None
        if batch is not None:
            self._remember(copy, batch)

    def which(self, data: Any) -> Optional[int]:
        """The number of the batch that `data` is; None: not known."""
        for tensor in tensors_of(data):
            batch = self._batch_of(tensor)
            if batch is not None:
                return batch
        return None


delivered = Delivered()
