"""What a DataLoader is, as the job is told it."""

import multiprocessing
import sys
from typing import Any, Dict

from loaderscope_guest import fastai_loader, messages, places, user_code, wrong_data_samples
from loaderscope_guest.sizes import attribute, length_of


def _pins(loader: Any) -> bool:
    if not attribute(loader, "pin_memory"):
        return False
    torch = sys.modules["torch"]
    if getattr(torch, "accelerator", torch.cuda).is_available():
        return True
    messages.degraded("pin_memory=True does nothing here: PyTorch finds no GPU to pin for")
    return False


def _start_method(loader: Any) -> str:
    """Of its workers. To ask must not decide it."""
    context = getattr(loader, "multiprocessing_context", None)
    if context is not None:
        return context.get_start_method()
    return multiprocessing.get_start_method(allow_none=True) or multiprocessing.get_all_start_methods()[0]


def _count(value: Any) -> int:
    """0: it is none."""
    try:
        return max(0, int(value))
    except (TypeError, ValueError, OverflowError):
        return 0


def _length(loader: Any, sampler: Any, iterable: bool) -> Dict[str, int]:
    """Of an epoch. A batch sampler that hides its sampler knows how many batches it gives, and not how many samples."""
    if iterable:
        return {"samples": 0, "batches": 0}
    length = length_of(sampler)
    if length > 0 and sampler is attribute(loader, "batch_sampler"):
        return {"samples": 0, "batches": length}
    return {"samples": length or length_of(loader.dataset), "batches": 0}


def _shards(dataset: Any) -> int:
    """Of a stream that its workers divide by shards, as those of `datasets` are."""
    shards = attribute(dataset, "num_shards")
    return shards if type(shards) is int and shards > 0 else 0


def describe(loader: Any) -> Dict[str, Any]:
    """A program may make PyTorch's iterators for an object of its own, which has what an iterator asks for and not all
    that a DataLoader has."""
    sampler = wrong_data_samples.sampler_of(loader)
    iterable = user_code.is_stream(type(loader.dataset)) or not hasattr(loader.dataset, "__getitem__")
    return {
        "is_opaque": False,
        "num_workers": _count(loader.num_workers),
        "prefetch_factor": _count(getattr(loader, "prefetch_factor", 0)),
        "batch_size": _count(attribute(loader, "batch_size"))
        or _count(attribute(attribute(loader, "batch_sampler"), "batch_size")),
        "pin_memory": _pins(loader),
        "persistent_workers": bool(getattr(loader, "persistent_workers", False)),
        "in_order": bool(getattr(loader, "in_order", True)),
        "drop_last": bool(attribute(loader, "drop_last")),
        "shuffle": wrong_data_samples.shuffles(loader),
        "mp_context": _start_method(loader),
        **_length(loader, sampler, iterable),
        "dataset": type(loader.dataset).__name__,
        "sampler": type(sampler).__name__,
        "place": places.of(loader).line,
        "iterable": iterable,
        "shards": _shards(loader.dataset) if iterable else 0,
        "code": user_code.names_of(loader),
        **fastai_loader.facts_of(loader),
    }
