"""How much of a collated batch is padding, where its samples differ in length."""

from collections.abc import Mapping
from typing import Any, Dict, Optional, Tuple

from loaderscope_guest import library
from loaderscope_guest.protocol import MESSAGE

_LOOK_EVERY = 8  # batches of a worker
_DEEPEST = 3
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
    if depth == _DEEPEST:
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
        self._real = self._padded = 0

    def look(self, samples: Any, batch: Any) -> None:
        self._batches += 1
        if self._batches % _LOOK_EVERY != 1:
            return
        real, padded = real_and_padded(samples, batch)
        if padded > 0:
            self._real += real
            self._padded += padded
            library.say(what=MESSAGE.padding, real=self._real, padded=self._padded)


padding = Padding()
