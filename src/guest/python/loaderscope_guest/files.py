"""Files that are opened for reading bytes while a sample is made: their reads are timed, with the bytes."""

import builtins
import functools
import io
import os
from threading import get_ident
from typing import Any, Callable

from loaderscope_guest import batch_work, inject, library
from loaderscope_guest.stages import READ, timed


def _is_here(maker: Any) -> bool:
    return maker is not None and library.flags.timing and maker.thread == get_ident()


class TimedFile(io.FileIO):
    """The raw file under the result of open(). It sees only the reads that reach the system, so a decoder's many small
    reads, which the buffer serves, cost nothing. Within a read of another kind, such as an archive's, its read is
    part of that read, and adds the bytes. It has no name besides its stage."""

    read, readall, readinto = (timed(method, READ, has_name=False)  # type: ignore[assignment]
                               for method in (io.FileIO.read, io.FileIO.readall, io.FileIO.readinto))


def _open(file: Any, buffering: int, opener: Any) -> io.BufferedReader:
    raw = TimedFile(os.fspath(file), "r", opener=opener)
    size = buffering if buffering > 1 else max(getattr(raw, "_blksize", 0), io.DEFAULT_BUFFER_SIZE)
    return io.BufferedReader(raw, size)


class _Open:
    """Replaces open(). It is not a function, because a function that is an attribute of a class becomes a method, and open()
    does not. Its __class__ is the type of open()."""

    __class__ = property(lambda self: type(self._original))  # type: ignore[assignment]

    def __init__(self, original: Callable[..., Any]) -> None:
        self._original = original
        functools.update_wrapper(self, original, updated=())
        self.__module__ = builtins.__name__

    def __call__(self, file: Any, mode: str = "r", buffering: int = -1, *more: Any, **named: Any) -> Any:
        is_plain = mode in ("rb", "br") and buffering != 0 and not more and set(named) <= {"opener"}
        maker = batch_work.current
        if not is_plain or isinstance(file, int) or not _is_here(maker):
            return self._original(file, mode, buffering, *more, **named)
        library.enter(READ)
        try:
            inject.once_per_sample("read", maker)
            return _open(file, buffering, named.get("opener"))
        finally:
            library.leave(0)

    def __reduce__(self) -> str:
        return "open"

    def __repr__(self) -> str:
        return repr(self._original)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._original, name)


def install() -> None:
    timed_open = _Open(io.open)
    builtins.open = timed_open
    io.open = timed_open
