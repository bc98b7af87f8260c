"""Decoded and used frames of videos. PyAV reports both: the frames of its codecs, and the frames that become an array
or a picture.

torchcodec and decord get the positions of frames, and decode the frames before them. Their decoded frames are estimated
from the last key frame before the position, or from the last decoded frame if it is nearer."""

import os
import threading
from bisect import bisect_right
from typing import Any, Callable, Iterable, List, Optional, Sequence, Set

from loaderscope_guest import batch_work, library, messages, video_index
from loaderscope_guest.counters import counters
from loaderscope_guest.identity import IdentityMap
from loaderscope_guest.user_code import spending

_FEWEST = 16  # accesses that a fit needs
_MOST_KEYS = 100_000  # keys of a video
_MOST_VIDEOS = 16  # videos of a sample


class Fit:
    """The time of an access as a line over its decoded frames, by least squares."""

    def __init__(self) -> None:
        self.count = 0
        self._frames = self._time = 0.0  # means
        self._squares = self._products = 0.0  # around the means

    def add(self, frames: int, time: int) -> None:
        self.count += 1
        apart = frames - self._frames
        self._frames += apart / self.count
        self._time += (time - self._time) / self.count
        self._squares += apart * (frames - self._frames)
        self._products += apart * (time - self._time)

    def slope(self) -> float:
        """ns per decoded frame; 0: unknown."""
        return max(0.0, self._products / self._squares) if self.count >= _FEWEST and self._squares > 0 else 0.0


class Frames:
    """Frames of this process since it began to make batches. Threads of a pool may add to them."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        self._turn = threading.Lock()
        self.decoded = 0
        self.used = 0
        self.seeks = 0  # times that decoding began at a key frame, or at the beginning
        self.unknown = 0  # frames that were asked for where the key frames are unknown
        self._fit = Fit()
        self._groups = self._squared_groups = 0  # frames between key frames, and the sum of their squares
        self._key_sizes = self._other_sizes = 0.0  # sums over files of the mean bytes

    def add(self, decoded: int, used: int, seeks: int = 0) -> None:
        with self._turn:
            self.decoded += decoded
            self.used += used
            self.seeks += seeks

    def took(self, decoded: int, time: int) -> None:
        """An access decoded frames and took `time`, in ns."""
        if decoded > 0:
            with self._turn:
                self._fit.add(decoded, time)

    def see_keys(self, keys: Sequence[int], frames: int) -> None:
        groups = [end - begin for begin, end in zip(keys, [*keys[1:], frames])]
        with self._turn:
            self._groups += sum(groups)
            self._squared_groups += sum(group * group for group in groups)

    def see_sizes(self, index: video_index.Index) -> None:
        others = index.frames - len(index.keys)
        if others > 0 and index.key_bytes > 0:
            with self._turn:
                self._key_sizes += index.key_bytes / len(index.keys)
                self._other_sizes += index.other_bytes / others

    def put(self) -> None:
        if self.decoded + self.used == 0:
            return
        counters.put("video.frames_decoded", self.decoded)
        counters.put("video.frames_used", self.used)
        counters.put("video.decoded_per_used", self.decoded, self.used)
        counters.put("video.seeks", self.seeks)
        if self._groups:
            counters.put("video.key_distance", self._squared_groups, self._groups)
        if self._key_sizes:
            counters.put("video.key_size", self._key_sizes, self._other_sizes)
        decoding_time = sum(time for (stage, _), time in spending.parts() if stage == "decode")
        growing = self._fit.slope() * self.decoded * (1 + self.unknown / max(self.used, 1))
        if growing and decoding_time:
            counters.put("video.per_frame_share", min(growing, decoding_time), decoding_time)


class Turns:
    """Videos that a sample decodes one after another, in the thread that makes the batch."""

    def __init__(self) -> None:
        self._sample: Any = None
        self._videos: Set[Any] = set()  # names, or numbers of readers

    def take(self, video: Any) -> None:
        maker = batch_work.current
        if maker is None or not maker.samples:
            return
        sample = (maker.iterator, maker.batch, maker.samples)
        if sample != self._sample:
            if self._sample is not None:
                counters.add("video.in_turn", len(self._videos), 1)
            self._sample = sample
            self._videos.clear()
        if maker.is_here() and len(self._videos) < _MOST_VIDEOS:
            self._videos.add(video)


frames = Frames()
turns = Turns()
spending.also.append(frames.put)
os.register_at_fork(after_in_child=frames.forget)


class _Access(threading.local):
    """Frames that PyAV decodes in a thread between two seeks."""

    video: Any = None  # name of the video
    is_inside = False  # inside a call that decodes
    decoded = used = time = 0

    def end(self, video: Any = None) -> None:
        if self.decoded:
            frames.add(0, 0, seeks=1)
            frames.took(self.decoded, self.time)
        self.video = video
        self.decoded = self.used = self.time = 0


access = _Access()


def _given(given: Any, time: int) -> None:
    """`given`: a frame, or several."""
    some = given if isinstance(given, list) else [given]
    decoded = sum(type(one).__name__ == "VideoFrame" for one in some)
    if decoded and not access.decoded:
        turns.take(access.video)
    access.decoded += decoded
    access.time += time
    frames.add(decoded, 0)


def decoding(function: Callable[..., Any]) -> Callable[..., Any]:
    """Counts the frames that `function` gives. One such call within another counts for the outer one."""

    def watching(*arguments: Any, **named: Any) -> Any:
        if access.is_inside:
            return function(*arguments, **named)
        access.is_inside, begun = True, library.now()
        try:
            given = function(*arguments, **named)
        finally:
            access.is_inside = False
        with messages.never_failing("the frames of PyAV are"):
            _given(given, library.now() - begun)
        return given

    return watching


def used(*_: Any, **__: Any) -> None:
    access.used += 1
    frames.add(0, 1)


def took_part(_: Any, time: int) -> None:
    access.time += time


def begins(_: Any, container: Any, *__: Any, **___: Any) -> None:
    """PyAV seeks, or opens a file."""
    access.end(container.name)


def took(decoded: Optional[int], time: int) -> None:
    if decoded:
        frames.took(decoded, time)


def asked_by_lerobot(_: Any, path: Any, times: Sequence[float], *__: Any, **___: Any) -> Optional[int]:
    """LeRobot makes an array of each frame that PyAV decodes, and uses those at `times`. All of it takes the time of its
    access."""
    decoded = access.decoded
    if decoded:
        frames.add(0, len(times) - access.used, seeks=1)
        access.decoded = access.used = access.time = 0
    return decoded


class _Reader:
    """A file that frames are taken out of by their places."""

    def __init__(self, keys: Optional[List[int]]) -> None:
        self._keys = keys  # the places of its key frames; None: not known
        self._last = -1  # position of the last decoded frame

    def take(self, places: Iterable[int]) -> int:
        """Returns how many frames are decoded for these."""
        places = sorted(set(places))
        turns.take(id(self))
        if self._keys is None:
            frames.unknown += len(places)
            return 0
        decoded = seeks = 0
        for place in places:
            position = bisect_right(self._keys, place)
            key = self._keys[position - 1] if position else 0
            continues = key <= self._last < place
            decoded += place - self._last if continues else place - key + 1
            seeks += not continues
            self._last = place
        frames.add(decoded, len(places), seeks)
        return decoded


_readers = IdentityMap()
_paths = IdentityMap()  # paths of the files of decoders


def opened(made: Any, path: Optional[str]) -> None:
    """A decoder of the file at `path`. The header of a container says how far its key frames are apart."""
    if path is None:
        return
    _paths.put(made, path)
    if not video_index.is_new(path):
        return
    entered = library.now()
    index = video_index.read(path)
    if index is not None:
        frames.see_sizes(index)
        frames.see_keys(index.keys, index.frames)
    library.took(entered)


def _find_reader(made: Any, keys_of: Callable[[Any], Iterable[int]]) -> _Reader:
    reader: Optional[_Reader] = _readers.get(made)
    if reader is None:
        path = _paths.get(made)
        try:
            keys: Optional[List[int]] = [int(key) for key, _ in zip(keys_of(made), range(_MOST_KEYS))]
            if keys and (path is None or video_index.read(path) is None):
                frames.see_keys(keys, len(made))
        except Exception:  # torchcodec does not look for them with seek_mode="approximate"
            index = video_index.read(path) if path is not None else None
            keys = index.keys if index is not None else None
        reader = _Reader(keys or None)
        _readers.put(made, reader)
    return reader


def _torchcodec(decoder: Any) -> _Reader:
    return _find_reader(decoder, lambda made: made._get_key_frame_indices())


def _whole(places: Any, length: int) -> Iterable[int]:
    """Some count from the end."""
    return [int(place) % length for place in places]


def at_place(_: Any, decoder: Any, index: Any) -> int:
    return _torchcodec(decoder).take(_whole([index], len(decoder)))


def at_places(_: Any, decoder: Any, indices: Any) -> int:
    return _torchcodec(decoder).take(_whole(indices, len(decoder)))


def at_key(_: Any, decoder: Any, key: Any) -> int:
    is_range = isinstance(key, slice)
    return _torchcodec(decoder).take(range(*key.indices(len(decoder))) if is_range else _whole([key], len(decoder)))


def look_at_range(_: Any, decoder: Any, start: int, stop: int, step: int = 1) -> int:
    return _torchcodec(decoder).take(range(*slice(start, stop, step).indices(len(decoder))))


def at_times(given: Any, decoder: Any, *_: Any, **__: Any) -> int:
    """`given`: frames that say when they are played."""
    facts = decoder.metadata
    times = given.pts_seconds
    times = times.tolist() if hasattr(times, "tolist") else times
    begin = facts.begin_stream_seconds or 0.0
    times = times if isinstance(times, list) else [times]
    return _torchcodec(decoder).take(round((time - begin) * facts.average_fps) for time in times)


def _decord(reader: Any) -> _Reader:
    return _find_reader(reader, lambda made: made.get_key_indices())


def look_at_decord(_: Any, reader: Any, indices: Any) -> int:
    return _decord(reader).take(_whole(indices, len(reader)))


def one_of_decord(_: Any, reader: Any, idx: Any) -> Optional[int]:
    if isinstance(idx, slice):  # handled as a batch
        return None
    return _decord(reader).take(_whole([idx], len(reader)))
