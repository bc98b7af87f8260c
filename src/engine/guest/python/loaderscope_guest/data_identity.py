"""Which data a process was given, so that wrong data is noticed: the order of an epoch's samples, the random numbers
that a worker begins with, and the first samples of a stream. Nothing is drawn, nothing is kept but hashes."""

import hashlib
import random
import sys
from typing import Any

from loaderscope_guest import library

_FIRST_BATCHES = 16  # of an epoch: their order is its fingerprint


def _hash(text: bytes) -> str:
    return hashlib.blake2b(text, digest_size=8).hexdigest()


class Order:
    """What the sampler of one epoch gives, in order."""

    def __init__(self) -> None:
        self._text = ""
        self._batches = 0
        self._samples = 0
        self._ascending = True
        self._last: Any = None
        self._said = False

    def add(self, iteration: Any, index: Any) -> None:
        if self._said:
            return
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
        if self._batches > 0 and not self._said:
            library.say(what="order", iterator=iteration.number, generation=iteration.generation,
                        hash=_hash(self._text.encode()), samples=self._samples, ascending=self._ascending)
        self._said = True


def _random_states() -> Any:
    states = {"python": _hash(repr(random.getstate()).encode())}
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        state = numpy.random.get_state()
        states["numpy"] = _hash(state[1].tobytes() + str(state[2]).encode())
    torch = sys.modules.get("torch")
    if torch is not None:
        states["torch"] = _hash(torch.random.get_rng_state().numpy().tobytes())
    return states


def say_first_draws(making: Any) -> None:
    """Of a worker, before its first sample."""
    library.say(what="draws", iterator=making.iterator, generation=making.generation, worker=making.worker,
                **_random_states())


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
    """The first samples of an iterable data set, as one worker is given them."""

    MOST = 4

    def __init__(self) -> None:
        self._text = b""
        self._samples = 0

    def add(self, making: Any, sample: Any) -> None:
        if self._samples == self.MOST:
            return
        self._samples += 1
        try:
            self._text += _content(sample)
        except Exception:
            self._samples = self.MOST  # cannot be told apart
            return
        if self._samples == self.MOST and self._text:
            library.say(what="stream", iterator=making.iterator, generation=making.generation, worker=making.worker,
                        hash=_hash(self._text))
