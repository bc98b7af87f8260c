"""Ray Data: its batches, and the work of its threads while a batch is waited for. Each batch brings the times of its
stages. Ray reports which share of them blocked the program (ray.data.Dataset.stats)."""

import functools
import time
from types import ModuleType
from typing import Any, Callable, Dict, Iterator

from loaderscope_guest import construction, iteration, library, messages, opaque, user_code
from loaderscope_guest.library import STAGES
from loaderscope_guest.loaders import loaders
from loaderscope_guest.opaque import Opaque, described, is_counted
from loaderscope_guest.batch_sizes import count_samples

_CALLED = "Ray Data"
_MOST = 64  # lines that are distinguished
# Ray's words for its stages -> ours, and what it is called. Blocks are made by tasks of Ray, in processes of their own.
_STAGES = {
    "production_wait": ("opaque", "waiting for blocks that tasks of Ray make"),
    "data_transfer": ("read", "blocks fetched from Ray's object store"),
    "batching": ("collate", "batches cut out of blocks"),
    "format": ("decode", "format"),
    "collate": ("collate", "collate_fn"),
    "finalize": ("opaque", "finalize_fn"),
}
_cpu_before = [0.0]  # CPU time of the process when a batch was requested
_opaques: Dict[Any, Opaque] = {}  # loaders by the line that iterates them: each epoch is another iterator


def _make_opaque(batches: Any) -> Opaque:
    size = getattr(batches, "_batch_size", None)
    place = construction.here().line
    key = (place, size)
    if key not in _opaques and len(_opaques) >= _MOST:
        del _opaques[next(iter(_opaques))]
    if key not in _opaques:

        def describe(first: Any) -> Dict[str, Any]:
            return described(_CALLED, place, size if isinstance(size, int) else count_samples(first), made_by=["ray"])

        stands_for = functools.partial(_make_opaque)  # all of these iterators: they are one loader
        _opaques[key] = Opaque(stands_for, describe, _CALLED, loaders.given)
    return _opaques[key]


def _iterated(original: Callable[[Any], Any]) -> Callable[[Any], Any]:
    @functools.wraps(original)
    def __iter__(self: Any) -> Iterator[Any]:
        batches = original(self)
        return _given(batches, _make_opaque(self)) if is_counted() else batches

    return __iter__


def _given(batches: Iterator[Any], of: Opaque) -> Iterator[Any]:
    of.begin_epoch()
    while True:
        _cpu_before[0] = time.process_time()
        try:
            batch = of.take(lambda: next(batches))
        except StopIteration:
            return
        yield batch


def _report(stage: Any, spans: Any, cpu_share: float) -> None:
    ours, called = _STAGES.get(str(getattr(stage, "value", stage)).lower(), ("opaque", str(stage)))
    for span in spans:
        begin, end = int(span.start_s * 1e9), int(span.end_s * 1e9)
        library.others_did(STAGES[ours], begin, end, int((end - begin) * cpu_share))
        user_code.spending.add(ours, f"{_CALLED}: {called}", end - begin)


def _attributed(original: Callable[..., None]) -> Callable[..., None]:
    """Called with a batch and when it was waited for, on the clock that is ours too."""
    @functools.wraps(original)
    def attribute(self: Any, batch: Any, begun: float, ended: float) -> None:
        original(self, batch, begun, ended)
        with messages.never_failing("what Ray Data says of a batch is"):
            share = min(1.0, (time.process_time() - _cpu_before[0]) / max(ended - begun, 1e-9))
            for stage, spans in batch.metadata.stage_timings.stages():
                _report(stage, [span for span in spans if span.end_s > begun and span.start_s < ended], share)

    return attribute


def install(module: ModuleType) -> None:
    iterator = module.BatchIterator
    iteration.install_ending()
    iterator.__iter__ = _iterated(iterator.__iter__)
    if hasattr(iterator, "_attribute_blocked_time"):
        iterator._attribute_blocked_time = _attributed(iterator._attribute_blocked_time)
        opaque.seen_inside = "what Ray Data's threads do meanwhile"
    else:
        messages.degraded("this Ray does not say when the stages of a batch ran: its batches are opaque")
