"""Decoded and used frames of videos. PyAV reports both: the frames of its codecs, and the frames that become an array
or a picture.

torchcodec and decord get the positions of frames, and decode the frames before them. Their decoded frames are estimated
from the last key frame before the position, or from the last decoded frame if it is nearer."""

import os
from bisect import bisect_right
from typing import Any, Callable, Iterable, List, Optional

from loaderscope_guest.counters import counters
from loaderscope_guest.identity import IdentityMap
from loaderscope_guest.user_code import spending


class Frames:
    """Frames of this process since it began to make batches."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        self.decoded = 0
        self.used = 0

    def add(self, decoded: int, used: int) -> None:
        self.decoded += decoded
        self.used += used

    def put(self) -> None:
        if self.decoded + self.used == 0:
            return
        counters.put("video.frames_decoded", self.decoded)
        counters.put("video.frames_used", self.used)
        counters.put("video.decoded_per_used", self.decoded, self.used)


frames = Frames()
spending.also.append(frames.put)
os.register_at_fork(after_in_child=frames.forget)


def given_by_codec(given: Any, *_: Any, **__: Any) -> None:
    frames.add(sum(type(one).__name__ == "VideoFrame" for one in given), 0)


def used(*_: Any, **__: Any) -> None:
    frames.add(0, 1)


class _Reader:
    """A file that frames are taken out of by their places."""

    def __init__(self, keys: Optional[List[int]]) -> None:
        self._keys = keys  # the places of its key frames; None: not known
        self._last = -1  # position of the last decoded frame

    def take(self, places: Iterable[int]) -> None:
        places = sorted(set(places))
        if self._keys is None or not places:
            return
        decoded = 0
        for place in places:
            position = bisect_right(self._keys, place)
            key = self._keys[position - 1] if position else 0
            continues = key <= self._last < place
            decoded += place - self._last if continues else place - key + 1
            self._last = place
        frames.add(decoded, len(places))


_readers = IdentityMap()


def _find_reader(made: Any, keys_of: Callable[[Any], Iterable[int]]) -> _Reader:
    reader: Optional[_Reader] = _readers.get(made)
    if reader is None:
        try:
            keys: Optional[List[int]] = [int(key) for key in keys_of(made)]
        except Exception:  # torchcodec does not look for them with seek_mode="approximate"
            keys = None
        reader = _Reader(keys or None)
        _readers.put(made, reader)
    return reader


def _torchcodec(decoder: Any) -> _Reader:
    return _find_reader(decoder, lambda made: made._get_key_frame_indices())


def _whole(places: Any, length: int) -> Iterable[int]:
    """Some count from the end."""
    return [int(place) % length for place in places]


def at_place(_: Any, decoder: Any, index: Any) -> None:
    _torchcodec(decoder).take(_whole([index], len(decoder)))


def at_places(_: Any, decoder: Any, indices: Any) -> None:
    _torchcodec(decoder).take(_whole(indices, len(decoder)))


def at_key(_: Any, decoder: Any, key: Any) -> None:
    is_range = isinstance(key, slice)
    _torchcodec(decoder).take(range(*key.indices(len(decoder))) if is_range else _whole([key], len(decoder)))


def look_at_range(_: Any, decoder: Any, start: int, stop: int, step: int = 1) -> None:
    _torchcodec(decoder).take(range(*slice(start, stop, step).indices(len(decoder))))


def at_times(given: Any, decoder: Any, *_: Any, **__: Any) -> None:
    """`given`: frames that say when they are played."""
    facts = decoder.metadata
    times = given.pts_seconds
    times = times.tolist() if hasattr(times, "tolist") else times
    begin = facts.begin_stream_seconds or 0.0
    times = times if isinstance(times, list) else [times]
    _torchcodec(decoder).take(round((time - begin) * facts.average_fps) for time in times)


def _decord(reader: Any) -> _Reader:
    return _find_reader(reader, lambda made: made.get_key_indices())


def look_at_decord(_: Any, reader: Any, indices: Any) -> None:
    _decord(reader).take(_whole(indices, len(reader)))


def one_of_decord(_: Any, reader: Any, idx: Any) -> None:
    if not isinstance(idx, slice):  # a slice is handled as a batch
        _decord(reader).take(_whole([idx], len(reader)))
