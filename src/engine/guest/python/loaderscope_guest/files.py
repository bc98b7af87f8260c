"""Files that are opened for reading bytes while a sample is made: their reads are timed, with the bytes."""

import builtins
import functools
import io
from typing import Any, Callable

from loaderscope_guest import inject, library, making
from loaderscope_guest.stages import READ


def _is_here() -> bool:
    maker = making.current
    return maker is not None and library.flags.timing and maker.is_here()


class TimedFile(io.FileIO):
    """The file behind what open() returns: its reads are those that ask the system, so that the many small ones of
    a decoder, which the buffer serves, cost nothing."""

    def read(self, *arguments: Any) -> Any:
        return _timed(super().read, arguments)

    def readall(self) -> Any:
        return _timed(super().readall, ())

    def readinto(self, buffer: Any) -> Any:
        return _timed(super().readinto, (buffer,))


def _timed(read: Callable[..., Any], arguments: Any) -> Any:
    if not _is_here():
        return read(*arguments)
    library.enter(READ)
    size = 0
    try:
        inject.once_per_sample("read", making.current)
        result = read(*arguments)
        if result is not None:
            size = result if isinstance(result, int) else len(result)
        return result
    finally:
        library.leave(size)


def _open(file: Any, buffering: int, opener: Any) -> io.BufferedReader:
    raw = TimedFile(file, "r", opener=opener)
    size = buffering if buffering > 1 else max(getattr(raw, "_blksize", 0), io.DEFAULT_BUFFER_SIZE)
    return io.BufferedReader(raw, size)


def _timed_open(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original, updated=())
    def timed_open(file: Any, mode: str = "r", buffering: int = -1, *more: Any, **named: Any) -> Any:
        is_plain = mode in ("rb", "br") and buffering != 0 and not more and set(named) <= {"opener"}
        if not is_plain or isinstance(file, int) or not _is_here():
            return original(file, mode, buffering, *more, **named)
        library.enter(READ)
        try:
            inject.once_per_sample("read", making.current)
            return _open(file, buffering, named.get("opener"))
        finally:
            library.leave(0)

    return timed_open


def install() -> None:
    timed_open = _timed_open(io.open)
    builtins.open = timed_open
    io.open = timed_open
