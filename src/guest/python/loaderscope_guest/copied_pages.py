"""Pages of the data set that a forked worker has copied. A page is shared with the trainer until one of them writes to
it, and reading a Python object writes its reference count.

The trainer notes the addresses of some objects of each large attribute before it forks. The workers therefore touch
none of these objects. /proc/self/pagemap shows whether a page belongs to this process alone. All users can read this
since Linux 4.2."""

import multiprocessing.util
import os
import struct
import sys
from array import array
from itertools import islice
from types import ModuleType
from typing import Any, Callable, Dict, Iterable, Iterator, List, NamedTuple, Tuple

from loaderscope_guest import library, messages
from loaderscope_guest.counters import counters
from loaderscope_guest.library import now
from loaderscope_guest.batch_sizes import attribute, reference
from loaderscope_guest.user_code import spending

_MANY, _MUCH = 10_000, 1 << 20  # objects, bytes: of less nothing is noted
_FARTHEST = 200_000  # entries of a dictionary or a set that the objects are spread over
_LONGEST = 10_000_000  # ns of a CPU: then no further attribute is looked for
_LOOKS_AT = 128  # objects of an attribute
_MOST, _DEEPEST = 16, 2  # attributes, one within another
_ATTRIBUTES = 64  # attributes of one object that are examined
_DATASETS = 8  # remembered data sets, as a program may alternate between a few
_PAGE = 12  # bits
_IS_THERE, _IS_OWN = 1 << 63, 1 << 56
_PAUSE = 5_000_000_000  # ns, at least, and as long as all until then


class Part(NamedTuple):
    name: str
    size: int  # bytes, as its objects that were looked at have it
    places: "array[int]"  # addresses


def _evenly(things: Any, count: int) -> Iterator[Any]:
    if isinstance(things, (dict, set, frozenset)):
        farthest = min(count, _FARTHEST)
        entries = things.items() if isinstance(things, dict) else things
        return islice(entries, 0, farthest, max(1, farthest // _LOOKS_AT))
    return (things[at] for at in range(0, count, max(1, count // _LOOKS_AT)))


def _objects_part(name: str, things: Any, count: int) -> Part:
    places, size, looked_at, kind = array("Q"), 0, 0, ""
    for thing in _evenly(things, count):
        parts = [thing, *thing[:4]] if isinstance(thing, (tuple, list)) else [thing]
        if isinstance(things, dict):
            parts = parts[1:]  # the pair was made for us
        kind = kind or type(parts[0] if not isinstance(things, dict) else parts[-1]).__name__
        places.extend(id(part) for part in parts)
        size += sum(sys.getsizeof(part, 0) for part in parts)
        looked_at += 1
    own = sys.getsizeof(things, 0)
    said = f"{name} ({type(things).__name__} of {count} {kind})"
    return Part(said, own + size * count // max(looked_at, 1), places)


def _bytes_part(name: str, kind: str, begin: int, size: int) -> Part:
    return Part(f"{name} ({kind})", size, array("Q", range(begin, begin + size, max(1, size // _LOOKS_AT))))


def _value_parts(name: str, value: Any) -> Iterable[Part]:
    kind = type(value)
    if kind in (list, tuple, dict, set, frozenset):
        if len(value) < _MANY:
            return ()
        return [_objects_part(name, value, len(value))]
    size = attribute(value, "nbytes")
    if not isinstance(size, int) or size < _MUCH:
        return ()
    module = kind.__module__.partition(".")[0]
    if module == "numpy" and kind.__name__ == "ndarray":
        if value.dtype.hasobject:
            return [_objects_part(name, value.ravel(), value.size)] if value.size >= _MANY else ()
        return [_bytes_part(name, "array", value.__array_interface__["data"][0], size)]
    if module == "torch" and str(value.device) == "cpu" and not value.is_shared():
        return [_bytes_part(name, "tensor", value.data_ptr(), size)]
    return ()


def _walk_parts(name: str, thing: Any, until: int, depth: int = 0) -> Iterator[Part]:
    for attribute_name, value in list(islice(getattr(thing, "__dict__", {}).items(), _ATTRIBUTES)):
        if library.thread_cpu_ns() > until:
            return
        inner = f"{name}.{attribute_name}"
        yield from _value_parts(inner, value)
        if depth < _DEEPEST and hasattr(value, "__dict__") and not isinstance(value, (ModuleType, type)):
            yield from _walk_parts(inner, value, until, depth + 1)


class Copied:
    """Copies made by this process if it is a worker. In the trainer, the parts that its workers inherit."""

    def __init__(self) -> None:
        self.parts: List[Part] = []
        self._noted: List[Tuple[Callable[[], Any], List[Part]]] = []  # parts by a weak reference to the data set
        self._begun = self._next = 0
        self._is_worker = False
        os.register_at_fork(after_in_child=self._begin)

    def note(self, dataset: Any) -> None:
        """Notes addresses in the trainer before it forks its workers."""
        for noted, parts in self._noted:
            if noted() is dataset:
                self.parts = parts
                return
        self.parts = []
        with messages.never_failing("where the data set lies in memory is"):
            self.parts = list(islice(_walk_parts(type(dataset).__name__, dataset, library.thread_cpu_ns() + _LONGEST), _MOST))
        self._noted = [*self._noted[1 - _DATASETS :], (reference(dataset), self.parts)]

    def _begin(self) -> None:
        self._begun = self._next = now()

    def shares(self) -> List[Tuple[str, int, float]]:
        """Name, size, and how much of it is in pages of this process's own."""
        result = []
        pages = os.open("/proc/self/pagemap", os.O_RDONLY | os.O_CLOEXEC)
        try:
            for part in self.parts:
                known: Dict[int, int] = {}
                for place in part.places:
                    page = place >> _PAGE
                    if page not in known:
                        entry = os.pread(pages, 8, page * 8)
                        known[page] = struct.unpack("Q", entry)[0] if len(entry) == 8 else 0
                there = [entry for entry in known.values() if entry & _IS_THERE]
                if there:
                    result.append((part.name, part.size, sum(entry & _IS_OWN != 0 for entry in there) / len(there)))
        finally:
            os.close(pages)
        return result

    def say(self, is_last: bool = False) -> None:
        at = now()
        if not self.parts or not library.flags.is_worker() or (at < self._next and not is_last):
            return
        if not self._is_worker:
            self._is_worker = True
            multiprocessing.util.Finalize(None, self.say, (True,), exitpriority=0)
        self._next = at + max(_PAUSE, at - self._begun)
        with messages.never_failing("what of the data set a worker has copied is"):
            parts: Dict[str, float] = {}
            for name, size, share in self.shares():
                parts[name] = parts.get(name, 0) + size * share
            counters.put("memory.copied_bytes", sum(parts.values()), parts=parts)
            counters.send()


copied = Copied()
spending.also.append(copied.say)
