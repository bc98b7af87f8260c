"""The part of a batch that is padding, if its samples differ in length."""

from typing import Any, Dict, List, Optional, Tuple

from loaderscope_guest import library, messages, walks
from loaderscope_guest.counters import counters
from loaderscope_guest.library import now
from loaderscope_guest.batch_sizes import is_mapping

LOOK_EVERY = 8  # batches of a loader, at most
_DEEPEST = 3
_SAMPLES = 256  # samples; larger batches are not examined
_PARTS = 32  # a list with more parts is not looked into


def _elements(value: Any) -> Optional[int]:
    for name in ("numel", "size"):  # methods of a tensor and of an array
        count = getattr(value, name, None)
        count = count() if callable(count) and name == "numel" else count
        if isinstance(count, int):
            return count
    if isinstance(value, (list, tuple)) and value and isinstance(value[0], (int, float)):
        return len(value)
    return None


def _count(value: Any, counts: Dict[str, int], left: List[int], place: str = "", depth: int = 0) -> None:
    """Adds the number of elements at each place. `left`: the number of objects that may still be visited."""
    if left[0] <= 0:
        return
    left[0] -= 1
    count = _elements(value)
    if count is not None:
        counts[place] = count
        return
    if depth == _DEEPEST:
        return
    is_named = is_mapping(value)
    is_short = (is_named or isinstance(value, (list, tuple))) and len(value) <= _PARTS
    parts = () if not is_short else value.items() if is_named else enumerate(value)
    for key, part in parts:
        _count(part, counts, left, f"{place}.{key}", depth + 1)


def _counts(value: Any, most: int) -> Dict[str, int]:
    """The number of elements at each place of a sample or batch. Visits `most` objects at most."""
    counts: Dict[str, int] = {}
    _count(value, counts, [most])
    return counts


def real_and_padded(samples: Any, batch: Any) -> Tuple[int, int]:
    """Elements that samples of different lengths brought, and those of the batch at the same places; (0, 0) where
    there are none, or the batch is built otherwise."""
    if not isinstance(samples, (list, tuple)) or not 2 <= len(samples) <= _SAMPLES:
        return 0, 0
    most = walks.MOST // (len(samples) + 1)
    sample_counts = [_counts(sample, most) for sample in samples]
    batch_counts = _counts(batch, most)
    real = padded = 0
    for place, first in sample_counts[0].items():
        lengths = [counts.get(place) for counts in sample_counts]
        if place not in batch_counts or None in lengths or all(length == first for length in lengths):
            continue
        total = sum(lengths)  # type: ignore[arg-type]
        if batch_counts[place] == len(samples) * max(lengths):  # type: ignore[type-var,operator]
            real += total
            padded += batch_counts[place]
    return real, padded


class Padding:
    """Counts the padding of the batches of this process that were looked at."""

    def __init__(self) -> None:
        self.samples: Any = None  # samples of a batch to examine once it is finished
        self._batch: Any = None

    def keep(self, samples: Any, batch: Any) -> None:
        """Keeps a batch if the budget allows examining it."""
        if walks.budget.is_due():
            self.samples, self._batch = samples, batch

    @messages.never_failing("padding is")
    def look_at_kept(self) -> None:
        samples, batch, self.samples, self._batch = self.samples, self._batch, None, None
        self.look(samples, batch)

    def look(self, samples: Any, batch: Any) -> None:
        begun = now()
        try:
            real, padded = real_and_padded(samples, batch)
        finally:  # also after an exception of the program's objects
            walks.budget.spend(begun)
            library.took(begun)
        if padded > 0:
            counters.add("collate.padding_share", padded - real, padded)
            counters.send()


padding = Padding()
