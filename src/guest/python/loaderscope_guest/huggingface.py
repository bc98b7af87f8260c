"""Data sets of Hugging Face's `datasets`. The function that a program sets per sample (`set_transform`,
`with_transform`) is timed separately within the `read` of the data set. The row lookups and the cost of touching
rows are counted."""

import functools
import itertools
import resource
from types import MethodType, ModuleType
from typing import Any, Callable, Dict, Tuple

from loaderscope_guest import batch_work, library, messages, stages, user_code
from loaderscope_guest.counters import counters

_MOST = 64  # functions; a data set makes its caller again for each sample
# wrappers by the identity of the functions, which they keep alive
_timed: Dict[Tuple[int, int], Callable[..., Any]] = {}


def _identity(transform: Callable[..., Any]) -> Tuple[int, int]:
    """A method is made again each time that it is asked for."""
    is_method = type(transform) is MethodType
    return (id(transform.__func__), id(transform.__self__)) if is_method else (id(transform), 0)  # type: ignore[attr-defined]


def _timed_transform(transform: Callable[..., Any]) -> Callable[..., Any]:
    timed = _timed.get(_identity(transform))
    if timed is None:
        is_kept = len(_timed) < _MOST
        timed = stages.timed(transform, stages.AUGMENT, called=user_code.name_of(transform) if is_kept else "")
        if is_kept:
            _timed[_identity(transform)] = timed
    return timed


def install(module: ModuleType) -> None:
    formatter = module.CustomFormatter
    original = formatter.__init__

    @functools.wraps(original)
    def __init__(self: Any, *arguments: Any, **named: Any) -> None:
        original(self, *arguments, **named)
        with messages.never_failing("the transform of a data set is"):
            self.transform = _timed_transform(self.transform)

    formatter.__init__ = __init__


_LOOKED_AT = 16  # lookups per measured one, which costs some 30 us


def _touched_so_far() -> Tuple[int, int]:
    """Returns the page faults of this thread, and its bytes fetched from storage; -1: unknown."""
    usage = resource.getrusage(resource.RUSAGE_THREAD)
    fetched = -1
    try:
        with open("/proc/thread-self/io", "rb", buffering=0) as file:
            fields = dict(line.split(b":") for line in file.read(1024).splitlines())
        fetched = int(fields[b"read_bytes"])
    except (OSError, KeyError, ValueError):
        pass
    return usage.ru_minflt + usage.ru_majflt, fetched


def _rows(key: Any) -> int:
    """0: it names none one by one."""
    if isinstance(key, int):
        return 1
    return len(key) if isinstance(key, (list, tuple)) else 0


_row_sizes: Dict[int, float] = {}  # bytes by table: asking a table costs time per chunk


def _row_bytes(table: Any) -> float:
    if id(table) not in _row_sizes:
        if len(_row_sizes) >= _MOST:
            _row_sizes.clear()
        _row_sizes[id(table)] = table.nbytes / table.num_rows
    return _row_sizes[id(table)]


def _report(dataset: Any, rows: int, before: Tuple[int, int], after: Tuple[int, int]) -> None:
    table = dataset._data
    if rows == 0 or table.num_rows == 0:
        return
    counters.add("datasets.mapped", rows if dataset._indices is not None else 0, rows)
    counters.add("datasets.row_bytes", _row_bytes(table) * rows, rows)
    counters.add("datasets.row_faults", after[0] - before[0], rows)
    if before[1] >= 0 and after[1] >= 0:
        counters.add("datasets.row_storage_bytes", after[1] - before[1], rows)


def _looked_up(original: Callable[..., Any]) -> Callable[..., Any]:
    calls = itertools.count()

    @functools.wraps(original)
    def _getitem(self: Any, key: Any, *arguments: Any, **named: Any) -> Any:
        maker = batch_work.current
        is_looked_at = library.flags.timing and maker is not None and next(calls) % _LOOKED_AT == 0 and maker.is_here()
        if not is_looked_at:
            return original(self, key, *arguments, **named)
        before = _touched_so_far()
        result = original(self, key, *arguments, **named)
        with messages.never_failing("what rows of a data set touch is"):
            _report(self, _rows(key), before, _touched_so_far())
        return result

    return _getitem


def install_counts(module: ModuleType) -> None:
    module.Dataset._getitem = _looked_up(module.Dataset._getitem)
