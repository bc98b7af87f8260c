"""Counts the files that a library opens while a batch is made, and those of them that this process opened before."""

import pathlib
from typing import Any, Set

from loaderscope_guest.counters import counters

_MOST = 4096  # names that are kept

_seen: Set[Any] = set()


def look_at_file(_: Any, holder: Any, name: Any = None, *__: Any, **___: Any) -> None:
    """`name`: ignored unless it is a path or text, as other types may have a hash of the program's own."""
    if isinstance(name, pathlib.PurePath):
        name = str(name)
    if type(name) not in (str, bytes):
        return
    counters.add("read.opened_again", name in _seen, 1)
    if len(_seen) < _MOST:
        _seen.add(name)
