"""Arrays that are stored in chunks, each of which is read and unpacked as a whole: how much larger the chunks are that a
slice lies in than the slice."""

import operator
from typing import Any, Iterator, Tuple

from loaderscope_guest.counters import counters


def _along(chosen: Any, length: int, chunk: int) -> int:
    """Elements of the chunks that it lies in, along an axis. Fails where it is no number and no slice of neighbours."""
    if isinstance(chosen, slice):
        first, last, step = chosen.indices(length)
        if step != 1:
            raise ValueError
        return chunk * (max(0, -(-last // chunk) - first // chunk) if last > first else 0)
    if isinstance(chosen, bool):
        raise ValueError
    operator.index(chosen)
    return chunk


def _whole(chosen: Tuple[Any, ...], axes: int) -> Iterator[Any]:
    """Yields a choice for each axis."""
    rest = axes - sum(one is not Ellipsis for one in chosen)
    seen = False
    for one in chosen:
        if one is Ellipsis:
            seen = True
            yield from [slice(None)] * rest
        else:
            yield one
    if not seen:
        yield from [slice(None)] * rest


def look_at_hdf5(given: Any, dataset: Any, chosen: Any, *_: Any, **__: Any) -> None:
    chunks = dataset.chunks
    if chunks is None or not getattr(given, "size", 0):
        return
    chosen = chosen if isinstance(chosen, tuple) else (chosen,)
    elements = 1
    try:
        for one, length, chunk in zip(_whole(chosen, len(chunks)), dataset.shape, chunks):
            elements *= _along(one, length, chunk)
    except (TypeError, ValueError):  # a list, a mask, a field
        return
    counters.add("read.chunks_per_used", elements, given.size)
