"""Counts the files that a library opens while a batch is made, and those of them that this process opened before."""

import pathlib
from typing import Any, Optional, Set

from loaderscope_guest import frames, video_index
from loaderscope_guest.counters import counters

_MOST = 4096  # names that are kept

_seen: Set[Any] = set()
_videos: Set[str] = set()


def look_at_file(_: Any, holder: Any, name: Any = None, *__: Any, **___: Any) -> None:
    """`name`: ignored unless it is a path or text, as other types may have a hash of the program's own."""
    if isinstance(name, pathlib.PurePath):
        name = str(name)
    if type(name) not in (str, bytes):
        return
    counters.add("read.opened_again", name in _seen, 1)
    if len(_seen) < _MOST:
        _seen.add(name)


def _count_video(path: Optional[str]) -> None:
    """`path`: None for a video without a path."""
    counters.add("video.opened_again", path in _videos, 1)
    if path is not None and len(_videos) < _MOST:
        _videos.add(path)
    counters.put("video.files", len(_videos))


def look_at_video(_: Any, decoder: Any, source: Any = None, *__: Any, **___: Any) -> None:
    path = video_index.find_path(source)
    _count_video(path)
    frames.opened(decoder, path)


def look_at_container(container: Any, file: Any, *_: Any, **__: Any) -> None:
    """PyAV's, which has sound only or is written to as well."""
    if type(container).__name__ == "InputContainer" and container.streams.video:
        frames.begins(None, container)
        look_at_video(None, container, file)
