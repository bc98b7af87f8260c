"""How many bytes of tensors and arrays a batch holds."""

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
