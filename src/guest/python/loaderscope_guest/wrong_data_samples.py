"""Which data a process was given, so that wrong data is noticed: the order of an epoch's samples, and what a stream
gives to each worker. Nothing is kept but hashes."""

import hashlib
from typing import Any, List, Set

from loaderscope_guest import library
from loaderscope_guest.library import MESSAGE
from loaderscope_guest.sizes import length_of

_FIRST_BATCHES = 16  # of an epoch: their order is its fingerprint
_FEWEST = 12  # samples, so that chance does not make two orders alike


def fingerprint(content: bytes) -> str:
    """What stands for a thing whose content is not kept."""
    return hashlib.blake2b(content, digest_size=8).hexdigest()


def batch_sampler_of(loader: Any) -> Any:
    """What decides which samples make a batch. With batch_size=None that is the data set, or a BatchSampler in the
    sampler's place."""
    batches = getattr(loader, "batch_sampler", None)
    if batches is not None:
        return batches
    sampler = getattr(loader, "sampler", None)
    return sampler if hasattr(sampler, "sampler") and hasattr(sampler, "batch_size") else None


def sampler_of(loader: Any) -> Any:
    """What decides which samples an epoch gives."""
    batches = batch_sampler_of(loader)
    sampler = getattr(batches, "sampler", batches)
    return getattr(loader, "sampler", None) if sampler is None else sampler


def shuffles(loader: Any) -> bool:
    """Is every epoch meant to have an order of its own?"""
    sampler = sampler_of(loader)
    if type(sampler).__name__ in ("RandomSampler", "SubsetRandomSampler", "WeightedRandomSampler"):
        return True
    return bool(getattr(sampler, "shuffle", hasattr(sampler, "set_epoch")))


class Order:
    """What the sampler of one epoch gives, in order."""

    def __init__(self, shuffled: bool = False) -> None:
        self._shuffled = shuffled
        self._text = ""
        self._batches = 0
        self._samples = 0
        self._ascending = True
        self._last: Any = None
        self.is_said = False

    def add(self, iteration: Any, index: Any) -> None:
        for key in index if isinstance(index, (list, tuple)) else [index]:
            if type(key) is not int:  # a stream's, or of a kind that we know nothing about
                return
            self._ascending &= self._last is None or key > self._last
            self._last = key
            self._samples += 1
        self._text += str(index)
        self._batches += 1
        if self._batches == _FIRST_BATCHES:
            self.say(iteration)

    def say(self, iteration: Any) -> None:
        """Of a shorter epoch: when it is over."""
        if self._samples >= _FEWEST and not self.is_said:
            library.say(what=MESSAGE.order, iterator=iteration.number, generation=iteration.generation,
                        hash=fingerprint(self._text.encode()), samples=self._samples,
                        shuffled=self._shuffled and not self._ascending)
        self.is_said = True


def _content(sample: Any, depth: int = 0) -> bytes:
    if isinstance(sample, (int, float, str, bytes)):
        return str(sample).encode()
    for to_array in ("numpy", "tobytes"):
        if callable(getattr(sample, to_array, None)):
            array = getattr(sample, to_array)()
            return array if isinstance(array, bytes) else array.tobytes()
    if isinstance(sample, dict):
        sample = list(sample.values())
    if isinstance(sample, (list, tuple)) and depth < 4:
        return b"".join(_content(part, depth + 1) for part in sample)
    return b""


class Stream:
    """What an iterable data set gives to one worker in one epoch: its first samples, and how many there are."""

    MOST = 4

    def __init__(self, workers: int, dataset: Any) -> None:
        self._workers = workers
        self._dataset = dataset
        self._first: List[bytes] = []
        self._samples = 0
        self._generation = -1

    def _say(self, making: Any, what: str, **more: Any) -> None:
        library.say(what=what, iterator=making.iterator, generation=making.generation, worker=making.worker, **more)

    def add(self, making: Any, sample: Any) -> None:
        self._samples += 1
        if self._samples > self.MOST:
            return
        try:
            self._first.append(_content(sample))
        except Exception:
            self._first.append(b"")  # cannot be told apart
        distinct: Set[bytes] = set(self._first) - {b""}
        if len(distinct) == self.MOST:
            self._say(making, "stream", hash=fingerprint(b"".join(self._first)))

    def end(self, making: Any, samples: int) -> None:
        """It may be asked again behind its end."""
        if self._generation != making.generation:
            self._generation = making.generation
            # Only here, and where it says something: some data sets go through all samples to count them.
            declared = length_of(self._dataset) if self._workers > 1 else 0
            self._say(making, "stream_end", samples=samples, workers=self._workers, declared=declared)
