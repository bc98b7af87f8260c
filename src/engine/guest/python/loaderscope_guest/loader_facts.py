"""What a DataLoader is, as the job is told it."""

import sys
from typing import Any, Dict

from loaderscope_guest import data_identity, messages, places, user_code


def _pins(loader: Any) -> bool:
    if not loader.pin_memory:
        return False
    torch = sys.modules["torch"]
    if getattr(torch, "accelerator", torch.cuda).is_available():
        return True
    messages.degraded("pin_memory=True does nothing here: PyTorch finds no GPU to pin for")
    return False


def describe(loader: Any) -> Dict[str, Any]:
    sampler = data_identity.sampler_of(loader)
    context = getattr(loader, "multiprocessing_context", None)
    if context is None:
        import multiprocessing

        context = multiprocessing
    iterable = user_code.is_stream(type(loader.dataset)) or not hasattr(loader.dataset, "__getitem__")
    return {
        "is_opaque": False,
        "num_workers": loader.num_workers,
        "prefetch_factor": getattr(loader, "prefetch_factor", None) or 0,
        "batch_size": loader.batch_size or getattr(loader.batch_sampler, "batch_size", 0) or 0,
        "pin_memory": _pins(loader),
        "persistent_workers": bool(getattr(loader, "persistent_workers", False)),
        "in_order": bool(getattr(loader, "in_order", True)),
        "drop_last": bool(loader.drop_last),
        "shuffle": data_identity.shuffles(loader),
        "mp_context": context.get_start_method(),
        "samples": 0 if iterable else data_identity.length_of(sampler) or data_identity.length_of(loader.dataset),
        "dataset": type(loader.dataset).__name__,
        "sampler": type(sampler).__name__,
        "place": places.of(loader).line,
        "iterable": iterable,
        "code": user_code.names_of(loader),
    }
