"""The contents of a batch: its samples, and the bytes of its tensors and arrays. Batches are objects of the program, which may
do anything when they are looked at. The bytes of a large batch are estimated from some of its parts."""

import weakref
from collections.abc import Mapping
from itertools import islice
from typing import Any, Callable, Iterable, Optional, Tuple

from loaderscope_guest import messages, walks
from loaderscope_guest.library import now

_DEEPEST = 4
_NUMBERS = (int, float, bool, complex, type(None))  # types without bytes of their own


def attribute(thing: Any, name: str) -> Any:
    """Returns None if the attribute is missing, or if reading it fails."""
    try:
        return getattr(thing, name, None)
    except Exception:
        return None


def is_mapping(thing: Any) -> bool:
    """Returns whether its class derives from Mapping. isinstance() would keep two objects in each process for each class that
    it is asked about and for each class that derives from it."""
    return isinstance(thing, dict) or any(base is Mapping for base in type(thing).__mro__)


def reference(thing: Any) -> Callable[[], Any]:
    """Returns a weak reference. It returns None once the object is gone, or if its type does not allow weak references."""
    try:
        return weakref.ref(thing)
    except TypeError:
        return lambda: None


def get_length(thing: Any) -> int:
    """0: it does not say."""
    try:
        return len(thing)
    except Exception:
        return 0


def count_bytes(data: Any) -> int:
    """An estimate where there are many objects."""
    try:
        return max(0, _walk(data, walks.MOST, 0)[0])
    except Exception:
        return 0


def count_samples(batch: Any) -> int:
    """Returns the first dimension of the first array in the batch, or else its length."""
    try:
        return _count_parts(batch, 0)
    except Exception:
        return 1


# Bytes, less than 0 where they are not known; objects that were visited; whether the bytes are exact.
_Walked = Tuple[int, int, bool]


def _walk(data: Any, most: int, depth: int) -> _Walked:
    """`most`: objects that it may visit."""
    kind = type(data)
    if kind in _NUMBERS:
        return 0, 1, True
    if kind is not list and kind is not tuple:
        size = attribute(data, "nbytes")
        if isinstance(size, int):
            return size, 1, True
        if isinstance(data, (bytes, bytearray, str)):
            return len(data), 1, True
        if not isinstance(data, (list, tuple)) and not is_mapping(data):
            return _bytes_of_old_tensor(data), 1, True
    count = len(data)
    if depth == _DEEPEST or count == 0:
        return 0, 1, True
    return (-1, 1, False) if most <= 1 else _walk_parts(data, count, most, depth)


def _bytes_of_old_tensor(data: Any) -> int:
    """Returns the bytes for PyTorch before 2.1."""
    element_size, count = attribute(data, "element_size"), attribute(data, "nelement")
    return int(element_size() * count()) if callable(element_size) and callable(count) else 0


def _others(data: Any, count: int, wanted: int) -> Iterable[Any]:
    """`wanted` of its parts after the first one, spread over all of them."""
    if is_mapping(data):
        return islice(data.values(), 1, wanted + 1)
    if wanted + 1 == count:
        return data[1:]
    return (data[place * count // (wanted + 1)] for place in range(1, wanted + 1))


def _walk_parts(data: Any, count: int, most: int, depth: int) -> _Walked:
    """The first part shows how many objects a part has. A list whose first, middle and last parts are numbers of one type is
    taken to hold only numbers."""
    is_list = not is_mapping(data)
    first = data[0] if is_list else next(iter(data.values()))
    kind = type(first)
    if kind in _NUMBERS and is_list and 3 < count and 4 <= most and kind is type(data[count // 2]) is type(data[-1]):
        return 0, 4, True
    left = most - 1
    size, each, is_exact = _walk(first, max(1, left // min(count, 2)), depth + 1)
    left -= each
    seen = 1 if size >= 0 else 0
    size = max(0, size)
    wanted = min(count - 1, left // each)
    is_exact = is_exact and wanted == count - 1
    for part in _others(data, count, wanted) if wanted else ():
        if left <= 0:
            is_exact = False
            break
        part_size, visited, part_is_exact = _walk(part, max(1, left // wanted), depth + 1)
        left -= visited
        wanted -= 1
        is_exact = is_exact and part_is_exact
        if part_size >= 0:
            size += part_size
            seen += 1
    return size * count // seen if seen else -1, most - left, is_exact


def _bytes_of_small(batch: Any) -> int:
    """The bytes of a tensor, or of a few tensors in a list or dictionary. Raises an exception for anything else."""
    kind = type(batch)
    if kind is not list and kind is not tuple and kind is not dict:
        return int(batch.nbytes)
    if len(batch) > walks.FEW:
        raise ValueError
    size = 0
    for part in batch.values() if kind is dict else batch:
        size += part.nbytes
    return int(size)


class Sizes:
    """Bytes of the batches of a loader in this process. The first large batch is walked, and later ones as often as there is time for.
    All others are taken to have as many bytes per sample as the last batch that was walked."""

    def __init__(self) -> None:
        self._per_sample: Optional[float] = None  # not known before the first large batch
        self._was_large = False

    def count_bytes(self, batch: Any, samples: int) -> int:
        # a large batch may not be sized again yet: trying the way of small ones costs time
        if self._was_large and not walks.budget.is_due():
            return int((self._per_sample or 0.0) * max(samples, 1))
        self._was_large = False
        try:
            return _bytes_of_small(batch)
        except Exception:  # the batch or one of its parts has no bytes of its own
            pass
        try:
            size, _, is_exact = _walk(batch, walks.FEW, 0)
            return size if is_exact else self._bytes_of_large(batch, max(samples, 1))
        except Exception:
            return 0

    def _bytes_of_large(self, batch: Any, samples: int) -> int:
        self._was_large = True
        if self._per_sample is None or walks.budget.is_due():
            begun, self._per_sample = now(), self._per_sample or 0.0
            try:
                size, _, is_exact = _walk(batch, walks.MOST - 2 * walks.FEW, 0)  # FEW are visited before
            finally:  # also after an exception of the program's objects
                walks.budget.spend(begun)
            self._per_sample = max(0, size) / samples
            if not is_exact:
                messages.degraded(f"batches have more than {walks.MOST} objects: their bytes are estimated by some of them")
        return int(self._per_sample * samples)



def _count_parts(batch: Any, depth: int) -> int:
    shape = attribute(batch, "shape")
    if isinstance(shape, tuple):
        return int(shape[0]) if shape else 1
    if is_mapping(batch) and batch:
        return _count_parts(next(iter(batch.values())), depth + 1) if depth < _DEEPEST else 1
    if isinstance(batch, (list, tuple)) and batch and depth < _DEEPEST:
        is_of_arrays = isinstance(batch[0], (list, tuple)) or is_mapping(batch[0]) or attribute(batch[0], "shape") is not None
        return _count_parts(batch[0], depth + 1) if is_of_arrays else len(batch)
    return len(batch) if hasattr(batch, "__len__") and not isinstance(batch, str) else 1
