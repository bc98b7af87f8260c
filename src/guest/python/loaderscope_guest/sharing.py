"""Tensors that a worker copies into shared memory when it sends them: those that were not made there, as those of PyTorch's
own default_collate are."""

import functools
import sys
import threading
from typing import Any, Callable

from loaderscope_guest import messages
from loaderscope_guest.library import now

_METHODS = ("_share_fd_cpu_", "_share_filename_cpu_")  # methods of a storage, one for each sharing strategy


class _Copied(threading.local):
    """Copies of the calling thread since it began to pickle a batch."""

    count = bytes = spent = 0

    def begin(self) -> None:
        self.count = self.bytes = self.spent = 0

    def add(self, size: int, spent: int) -> None:
        self.count += 1
        self.bytes += size
        self.spent += spent


copied = _Copied()


def _timed(share: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(share)
    def timed(self: Any, *arguments: Any, **named: Any) -> Any:
        if self.is_shared():
            return share(self, *arguments, **named)
        begun = now()
        result = share(self, *arguments, **named)
        copied.add(self.nbytes(), now() - begun)
        return result

    return timed


def time_copies() -> None:
    """In this process, which is a worker."""
    with messages.never_failing("the copying of tensors into shared memory is"):
        storage: Any = getattr(sys.modules.get("torch"), "UntypedStorage", None)
        for name in _METHODS:
            share = getattr(storage, name, None)
            if share is not None and not hasattr(share, "_loaderscope"):
                timed = _timed(share)
                timed._loaderscope = True  # type: ignore[attr-defined]
                setattr(storage, name, timed)
