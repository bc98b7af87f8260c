"""Fingerprints of the data that a process received, to detect wrong data: the order of an epoch's samples, and the
first samples of each worker's stream. Only hashes are kept, of parts if a sample is large."""

import hashlib
import operator
from itertools import islice
from typing import Any, List, Set

from loaderscope_guest import library
from loaderscope_guest.library import MESSAGE
from loaderscope_guest.batch_sizes import get_length

_FIRST_BATCHES = 16  # batches of an epoch whose order is its fingerprint
_KEYS = 256  # keys of a batch
_FEWEST = 12  # samples, so that chance does not make two orders alike


def fingerprint(content: bytes) -> str:
    """Returns a short hash that replaces the content."""
    return hashlib.blake2b(content, digest_size=8).hexdigest()


def find_batch_sampler(loader: Any) -> Any:
    """Returns the object that groups samples into batches. With batch_size=None, this is the data set, or a
    BatchSampler in the sampler's place."""
    batches = getattr(loader, "batch_sampler", None)
    if batches is not None:
        return batches
    sampler = getattr(loader, "sampler", None)
    return sampler if hasattr(sampler, "sampler") and hasattr(sampler, "batch_size") else None


def find_sampler(loader: Any) -> Any:
    """Returns the object that chooses the samples of an epoch."""
    batches = find_batch_sampler(loader)
    sampler = getattr(batches, "sampler", batches)
    return getattr(loader, "sampler", None) if sampler is None else sampler


def shuffles(loader: Any) -> bool:
    """Is every epoch meant to have an order of its own?"""
    sampler = find_sampler(loader)
    if type(sampler).__name__ in ("RandomSampler", "SubsetRandomSampler", "WeightedRandomSampler"):
        return True
    return bool(getattr(sampler, "shuffle", hasattr(sampler, "set_epoch")))


class Order:
    """Samples of one epoch from the sampler, in order."""

    def __init__(self, shuffled: bool = False) -> None:
        self._shuffled = shuffled
        self._text = ""
        self._batches = 0
        self._samples = 0
        self._ascending = True
        self._last: Any = None
        self.is_said = False

    def add(self, iteration: Any, index: Any) -> None:
        keys = index[:_KEYS] if isinstance(index, (list, tuple)) else [index]
        if set(map(type, keys)) != {int}:  # a stream's, or of a kind that we know nothing about
            return
        if self._ascending:
            follows = self._last is None or keys[0] > self._last
            self._ascending = follows and all(map(operator.lt, keys, keys[1:]))
        self._last = keys[-1]
        self._samples += len(keys)
        self._text += str(keys)
        self._batches += 1
        if self._batches == _FIRST_BATCHES:
            self.say(iteration)

    def say(self, iteration: Any) -> None:
        """Reports a short epoch at its end."""
        if self._samples >= _FEWEST and not self.is_said:
            library.say(what=MESSAGE.order, iterator=iteration.number, generation=iteration.generation,
                        hash=fingerprint(self._text.encode()), samples=self._samples,
                        shuffled=self._shuffled and not self._ascending)
        self.is_said = True


_LONGEST = 1 << 16  # bytes of a part of a sample that are looked at, and characters
_ELEMENTS = 1 << 14  # elements of a larger array, spread over all of it
_PARTS = 2000  # parts of a sample
_DEEPEST = 4


def _hash_ends(content: Any) -> Any:
    """All of it; of a long one the two ends."""
    half = _LONGEST // 2
    return content if len(content) <= _LONGEST else content[:half] + content[-half:]


def _select_bytes(array: Any) -> bytes:
    """A numpy array's elements. Those that are objects have no content that is known."""
    if array.dtype.hasobject:
        return b""
    if array.nbytes <= _LONGEST:
        return bytes(array.tobytes())
    return repr(array.shape).encode() + array.flat[:: array.size // _ELEMENTS + 1].tobytes()


def _content(sample: Any, left: List[int], depth: int = 0) -> bytes:
    """`left`: parts that may still be looked at."""
    left[0] -= 1
    if left[0] < 0:
        return b""
    if isinstance(sample, (int, float)):
        return str(sample).encode()
    if isinstance(sample, (str, bytes)):
        ends = _hash_ends(sample)
        return b"%d " % len(sample) + (ends.encode("utf-8", "replace") if isinstance(ends, str) else ends)
    if callable(getattr(sample, "numpy", None)):
        return _select_bytes(sample.numpy())
    if callable(getattr(sample, "tobytes", None)):
        return _select_bytes(sample) if hasattr(sample, "dtype") else _hash_ends(sample.tobytes())
    if isinstance(sample, dict):
        sample = list(islice(sample.values(), _PARTS))
    if isinstance(sample, (list, tuple)) and depth < _DEEPEST:
        return b"".join(_content(part, left, depth + 1) for part in sample[: left[0]])
    return b""


def _identity(sample: Any) -> str:
    """A hash of its content; "" if the content is unknown."""
    try:
        content = _content(sample, [_PARTS])
        return fingerprint(content) if content else ""
    except Exception:
        return ""


class Stream:
    """Samples of an iterable data set for one worker in one epoch: the first ones, and their number."""

    MOST = 4

    def __init__(self, workers: int, dataset: Any) -> None:
        self._workers = workers
        self._dataset = dataset
        self._first: List[str] = []  # their hashes
        self._samples = 0
        self._generation = -1

    def _say(self, making: Any, what: str, **more: Any) -> None:
        library.say(what=what, iterator=making.iterator, generation=making.generation, worker=making.worker, **more)

    def add(self, making: Any, sample: Any) -> None:
        self._samples += 1
        if self._samples > self.MOST:
            return
        self._first.append(_identity(sample))
        distinct: Set[str] = set(self._first) - {""}
        if len(distinct) == self.MOST:
            self._say(making, "stream", hash=fingerprint("".join(self._first).encode()))

    def end(self, making: Any, samples: int) -> None:
        """Reports the end. A stream may be asked again after its end, which is reported once per epoch."""
        if self._generation != making.generation:
            self._generation = making.generation
            # Only here, and where it says something: some data sets go through all samples to count them.
            declared = get_length(self._dataset) if self._workers > 1 else 0
            self._say(making, "stream_end", samples=samples, workers=self._workers, declared=declared)
