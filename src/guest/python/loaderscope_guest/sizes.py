"""How much a batch holds: samples, bytes of tensors and arrays, and how much of it is padding, where its samples differ
in length. Batches are objects of the program's own, which may do anything when they are looked at."""

import weakref
from collections.abc import Mapping
from typing import Any, Callable, Dict, Optional, Tuple

from loaderscope_guest import library
from loaderscope_guest.library import MESSAGE, now


_DEEPEST = 4
_MOST = 1000  # of a list: a batch may be a list of samples


def attribute(thing: Any, name: str) -> Any:
    """None: it has none, or does not want to be asked."""
    try:
        return getattr(thing, name, None)
    except Exception:
        return None


def reference(thing: Any) -> Callable[[], Any]:
    """That does not keep it alive; it gives None once that is gone, or where there can be none."""
    try:
        return weakref.ref(thing)
    except TypeError:
        return lambda: None


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
    if type(data) in (list, tuple):  # quickly
        size = 0
        for part in data[:_MOST] if depth < _DEEPEST else ():
            size += _bytes_of(part, depth + 1)
        return size
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


_LOOK_EVERY = 8  # batches of a worker, at most
_PART_OF_TIME = 500  # that looking takes, at most
_DEEPEST_SAMPLE = 3
_SAMPLES = 256  # of a batch: more are not looked at


def _elements(value: Any) -> Optional[int]:
    for name in ("numel", "size"):  # of a tensor, of an array
        count = getattr(value, name, None)
        count = count() if callable(count) and name == "numel" else count
        if isinstance(count, int):
            return count
    if isinstance(value, (list, tuple)) and value and isinstance(value[0], (int, float)):
        return len(value)
    return None


def _counts(value: Any, place: str = "", depth: int = 0) -> Dict[str, int]:
    """How many elements stand at each place of a sample or batch."""
    count = _elements(value)
    if count is not None:
        return {place: count}
    if depth == _DEEPEST_SAMPLE:
        return {}
    parts = value.items() if isinstance(value, Mapping) else \
        enumerate(value) if isinstance(value, (list, tuple)) and len(value) <= 32 else ()
    counts: Dict[str, int] = {}
    for key, part in parts:
        counts.update(_counts(part, f"{place}.{key}", depth + 1))
    return counts


def real_and_padded(samples: Any, batch: Any) -> Tuple[int, int]:
    """Elements that samples of different lengths brought, and those of the batch at the same places; (0, 0) where
    there are none, or the batch is built otherwise."""
    if not isinstance(samples, (list, tuple)) or not 2 <= len(samples) <= _SAMPLES:
        return 0, 0
    by_sample = [_counts(sample) for sample in samples]
    in_batch = _counts(batch)
    real = padded = 0
    for place, first in by_sample[0].items():
        lengths = [counts.get(place) for counts in by_sample]
        if place not in in_batch or None in lengths or all(length == first for length in lengths):
            continue
        total = sum(lengths)  # type: ignore[arg-type]
        if in_batch[place] == len(samples) * max(lengths):  # type: ignore[type-var,operator]
            real += total
            padded += in_batch[place]
    return real, padded


class Padding:
    """Of this process, over the batches that were looked at."""

    def __init__(self) -> None:
        self._batches = 0
        self._not_before = 0  # ns
        self._real = self._padded = 0

    def is_due(self) -> bool:
        """Asked once per batch."""
        self._batches += 1
        return self._batches % _LOOK_EVERY == 1 and now() >= self._not_before

    def look(self, samples: Any, batch: Any) -> None:
        begun = now()
        real, padded = real_and_padded(samples, batch)
        ended = now()
        self._not_before = ended + _PART_OF_TIME * (ended - begun)
        if padded > 0:
            self._real += real
            self._padded += padded
            library.say(what=MESSAGE.padding, real=self._real, padded=self._padded)


padding = Padding()
