"""How many samples, and how many bytes of tensors and arrays, a batch holds. Batches are objects of the program's own,
which may do anything when they are looked at."""

from collections.abc import Mapping
from typing import Any

_DEEPEST = 4
_MOST = 1000  # of a list: a batch may be a list of samples


def attribute(thing: Any, name: str) -> Any:
    """None: it has none, or does not want to be asked."""
    try:
        return getattr(thing, name, None)
    except Exception:
        return None


def length_of(thing: Any) -> int:
    """0: it does not say."""
    try:
        return len(thing)
    except Exception:
        return 0


def bytes_of(data: Any) -> int:
    try:
        return _bytes_of(data, 0)
    except Exception:
        return 0


def samples_of(batch: Any) -> int:
    """By the first dimension of the first array in it, else by its length."""
    try:
        return _samples_of(batch, 0)
    except Exception:
        return 1


def _bytes_of(data: Any, depth: int) -> int:
    size = attribute(data, "nbytes")
    if isinstance(size, int):
        return size
    if isinstance(data, (bytes, bytearray, str)):
        return len(data)
    if depth == _DEEPEST:
        return 0
    if isinstance(data, Mapping):
        data = list(data.values())
    if isinstance(data, (list, tuple)):
        return sum(_bytes_of(part, depth + 1) for part in data[:_MOST])
    element_size, count = attribute(data, "element_size"), attribute(data, "nelement")
    if callable(element_size) and callable(count):  # tensors before PyTorch 2.1
        return int(element_size() * count())
    return 0


def _samples_of(batch: Any, depth: int) -> int:
    shape = attribute(batch, "shape")
    if isinstance(shape, tuple):
        return int(shape[0]) if shape else 1
    if isinstance(batch, Mapping) and batch:
        return _samples_of(next(iter(batch.values())), depth + 1) if depth < _DEEPEST else 1
    if isinstance(batch, (list, tuple)) and batch and depth < _DEEPEST:
        is_of_arrays = isinstance(batch[0], (Mapping, list, tuple)) or attribute(batch[0], "shape") is not None
        return _samples_of(batch[0], depth + 1) if is_of_arrays else len(batch)
    return len(batch) if hasattr(batch, "__len__") and not isinstance(batch, str) else 1
