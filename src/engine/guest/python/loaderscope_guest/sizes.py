"""How many samples, and how many bytes of tensors and arrays, a batch holds."""

from typing import Any

_DEEPEST = 4
_MOST = 1000  # of a list: a batch may be a list of samples


def bytes_of(data: Any, depth: int = 0) -> int:
    size = getattr(data, "nbytes", None)
    if isinstance(size, int):
        return size
    if isinstance(data, (bytes, bytearray, str)):
        return len(data)
    if depth == _DEEPEST:
        return 0
    if isinstance(data, dict):
        data = list(data.values())
    if isinstance(data, (list, tuple)):
        return sum(bytes_of(part, depth + 1) for part in data[:_MOST])
    element_size, count = getattr(data, "element_size", None), getattr(data, "nelement", None)
    if callable(element_size) and callable(count):  # tensors before PyTorch 2.1
        return int(element_size() * count())
    return 0


def samples_of(batch: Any, depth: int = 0) -> int:
    """By the first dimension of the first array in it, else by its length."""
    shape = getattr(batch, "shape", None)
    if isinstance(shape, tuple):
        return int(shape[0]) if shape else 1
    if isinstance(batch, dict) and batch:
        return samples_of(next(iter(batch.values())), depth + 1) if depth < _DEEPEST else 1
    if isinstance(batch, (list, tuple)) and batch and depth < _DEEPEST:
        is_of_arrays = isinstance(batch[0], (dict, list, tuple)) or hasattr(batch[0], "shape")
        return samples_of(batch[0], depth + 1) if is_of_arrays else len(batch)
    return len(batch) if hasattr(batch, "__len__") and not isinstance(batch, str) else 1
