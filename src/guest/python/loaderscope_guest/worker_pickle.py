"""Objects that a worker receives if it is not a fork of the trainer: mainly the data set. The trainer pickles it for
each worker, and each worker unpickles it."""

import functools
import pickle
from typing import Any, Callable, Dict, List

from loaderscope_guest import messages
from loaderscope_guest.counters import counters
from loaderscope_guest.library import now
from loaderscope_guest.batch_sizes import attribute

_MUCH = 1 << 20  # bytes: of less it is not asked where they are
_LOOKS = 20  # one takes this part of the pickling at most
_MOST, _DEEPEST = 8, 3  # attributes that are looked at, one within another


class _TooMuch(Exception):
    pass


class _Counted:
    """A file that keeps nothing."""

    def __init__(self) -> None:
        self.bytes = 0

    def write(self, data: Any) -> None:
        self.bytes += len(data)


class _Sizing(pickle.Pickler):
    def __init__(self, counted: _Counted, until: int) -> None:
        super().__init__(counted, pickle.HIGHEST_PROTOCOL)  # type: ignore[arg-type]
        self._until = until

    def persistent_id(self, thing: Any) -> Any:
        """Asked for each object. Tensors travel in shared memory."""
        if now() > self._until:
            raise _TooMuch
        return 0 if callable(attribute(thing, "data_ptr")) else None


def _is_much(value: Any, size: int, longest: int) -> bool:
    """More than half of `size`, or more than can be pickled in that time."""
    counted = _Counted()
    try:
        _Sizing(counted, now() + longest).dump(value)
    except _TooMuch:
        return True
    except Exception:  # pickling works only for a new process
        return False
    return counted.bytes > size // 2


def _chief_parts(thing: Any, size: int, longest: int, depth: int = 0) -> List[str]:
    """Names of the attributes of a data set that most of it is in: "dataset.samples"."""
    parts = getattr(thing, "__dict__", {})
    names: List[str] = []
    for name, value in list(parts.items())[:_MOST]:
        if _is_much(value, size, longest):
            inner = _chief_parts(value, size, longest, depth + 1) if depth < _DEEPEST else []
            names += [f"{name}.{part}" for part in inner] or [name]
    return names


class WorkerPickleStats:
    """Statistics of all workers of this process that are not forks."""

    def __init__(self) -> None:
        self._count = 0
        self._bytes = 0
        self._spent = 0  # ns
        self._parts: Dict[str, float] = {}  # names of large attributes; the first has the largest number

    def add(self, process: Any, size: int, spent: int) -> None:
        self._count += 1
        self._bytes += size
        self._spent += spent
        if self._count == 1 and size > _MUCH:
            dataset = process._args[1]
            if isinstance(dataset, list) and len(dataset) == 1:  # the format of PyTorch 2.15
                dataset = dataset[0]
            parts = _chief_parts(dataset, size, spent // _LOOKS)
            self._parts = {f"{type(dataset).__name__}.{part}": len(parts) - i for i, part in enumerate(parts)}
        counters.put("startup.pickled_bytes", self._bytes, self._count, self._parts)
        counters.put("startup.pickle_s", self._spent * 1e-9, self._count)
        counters.send()


stats = WorkerPickleStats()


def sized(dump: Callable[..., None], loop: type) -> Callable[..., None]:
    """`dump`: multiprocessing's own. `loop`: what a worker of ours runs."""

    @functools.wraps(dump)
    def counting(thing: Any, file: Any, *more: Any, **named: Any) -> None:
        if not isinstance(getattr(thing, "_target", None), loop):
            return dump(thing, file, *more, **named)
        before, begun = file.tell(), now()
        dump(thing, file, *more, **named)
        spent = now() - begun
        with messages.never_failing("what a worker is handed is"):
            stats.add(thing, file.tell() - before, spent)

    return counting


def say_read(imports: int, spent: int) -> None:
    """Reports the start of a worker. `imports`: ns from its start in the trainer until it unpickled its arguments."""
    counters.put("startup.imports_s", imports * 1e-9)
    counters.put("startup.unpickle_s", spent * 1e-9)
    counters.send()
