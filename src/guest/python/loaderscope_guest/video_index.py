"""Key frames of a video file in MP4 or QuickTime form, by the tables in its header. No frame is decoded and no packet read.
At most _MOST_FILES are looked at in a process, and at most _LARGEST bytes of each."""

import os
import pathlib
import struct
import sys
from array import array
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple

_MOST_FILES = 64
_LARGEST = 4 << 20  # bytes of a header
_LONGEST_PATH = 4096
_MOST_BOXES = 64  # boxes at one level of a file


class Index(NamedTuple):
    frames: int
    keys: List[int]  # positions of the key frames, in the order of decoding
    key_bytes: int  # bytes of all key frames; 0: unknown
    other_bytes: int  # bytes of all other frames


def find_path(source: Any) -> Optional[str]:
    """The path of a video that the program opens: a path, or an open file that says its path."""
    for name in (source, getattr(source, "path", None), getattr(source, "name", None)):
        if isinstance(name, pathlib.PurePath):
            return os.fsdecode(name)
        if type(name) is str and len(name) <= _LONGEST_PATH:  # bytes are the video itself
            return name
    return None


def _boxes(data: memoryview) -> Iterator[Tuple[bytes, memoryview]]:
    for _ in range(_MOST_BOXES):
        if len(data) < 8:
            return
        size, kind = struct.unpack_from(">I4s", data)
        if not 8 <= size <= len(data):
            return
        yield kind, data[8:size]
        data = data[size:]


def _inner(data: memoryview, *path: bytes) -> Optional[memoryview]:
    for wanted in path:
        found = next((inside for kind, inside in _boxes(data) if kind == wanted), None)
        if found is None:
            return None
        data = found
    return data


def _numbers(table: memoryview, after: int) -> List[int]:
    """`after`: the place of their count."""
    (count,) = struct.unpack_from(">I", table, after)
    numbers = array("I", bytes(table[after + 4:after + 4 + 4 * count]))
    if numbers.itemsize != 4 or len(numbers) != count:
        raise ValueError("a table is cut off")
    if sys.byteorder == "little":
        numbers.byteswap()
    return numbers.tolist()


def _header(file: int) -> Optional[memoryview]:
    """Returns the inside of the box `moov`."""
    place = 0
    for _ in range(_MOST_BOXES):
        head = os.pread(file, 16, place)
        if len(head) < 8:
            return None
        size, kind = struct.unpack_from(">I4s", head)
        begin = 8
        if size == 1 and len(head) == 16:  # larger than 4 GB
            (size,), begin = struct.unpack_from(">Q", head, 8), 16
        if kind == b"moov":
            return memoryview(os.pread(file, size - begin, place + begin)) if size <= _LARGEST else None
        if size < 8:
            return None
        place += size
    return None


def parse(header: memoryview) -> Optional[Index]:
    """Returns the index of the first video track. None if it has no table of key frames."""
    for kind, track in _boxes(header):
        tables = _inner(track, b"mdia", b"minf", b"stbl") if kind == b"trak" else None
        handler = _inner(track, b"mdia", b"hdlr") if kind == b"trak" else None
        if tables is None or handler is None or bytes(handler[8:12]) != b"vide":
            continue
        sync, sizes = _inner(tables, b"stss"), _inner(tables, b"stsz")
        if sync is None or sizes is None:
            return None
        keys = [number - 1 for number in _numbers(sync, 4)]
        same, frames = struct.unpack_from(">II", sizes, 4)
        each = None if same else _numbers(sizes, 8)
        if not keys or keys[0] < 0 or keys[-1] >= frames:
            return None
        key_bytes = sum(each[key] for key in keys) if each else 0
        return Index(frames, keys, key_bytes, sum(each) - key_bytes if each else 0)
    return None


_known: Dict[str, Optional[Index]] = {}


def is_new(path: str) -> bool:
    return path not in _known


def read(path: str) -> Optional[Index]:
    """Returns None for files of other forms, and beyond the limits. Never fails."""
    if path in _known:
        return _known[path]
    if len(_known) >= _MOST_FILES:
        return None
    _known[path] = None
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            header = _header(file)
            _known[path] = parse(header) if header is not None else None
        finally:
            os.close(file)
    except (OSError, OverflowError, ValueError, IndexError, struct.error):
        pass
    return _known[path]
