"""fastai's DataLoader makes PyTorch's iterators itself, for a stand-in whose samples are its whole batches: what it makes of
them one by one is seen where it does so."""

import functools
from types import ModuleType
from typing import Any, Callable, Dict

from loaderscope_guest import batch_work, construction, library, user_code
from loaderscope_guest.library import SAMPLE
from loaderscope_guest.batch_sizes import attribute, get_length


def is_fastai_wrapper(loader: Any) -> bool:
    return (type(loader).__module__, type(loader).__name__) == ("fastai.data.load", "_FakeLoader")


def fastai_facts(stand_in: Any) -> Dict[str, Any]:
    """Returns the facts that differ from the attributes of the stand-in."""
    if not is_fastai_wrapper(stand_in):
        return {}
    loader = attribute(stand_in, "d")
    size, samples, dataset = (attribute(loader, name) for name in ("bs", "n", "dataset"))
    return {
        "batch_size": size if isinstance(size, int) else 0,
        "samples": samples if isinstance(samples, int) else get_length(dataset),
        "drop_last": bool(attribute(loader, "drop_last")),
        "shuffle": bool(attribute(loader, "shuffle")),
        "dataset": type(dataset).__name__,
        "code": {"opaque": user_code.maker_name(dataset), "collate": "fa_collate"},
    }


def _timed_in_fastai(original: Callable[[Any, Any], Any], report: Callable[[Any, Any], None]) -> Callable[[Any, Any], Any]:
    """`report`: given what makes the batch and the argument, where the calling thread makes one that is timed."""

    @functools.wraps(original)
    def reporting(self: Any, argument: Any) -> Any:
        maker = batch_work.current
        if maker is not None and library.flags.timing and maker.is_here():
            report(maker, argument)
        return original(self, argument)

    return reporting


def install(module: ModuleType) -> None:
    stand_in, loader = module._FakeLoader, module.DataLoader
    construction.install(stand_in, lacks="makes a loader of fastai, which keeps that to itself")
    loader.do_item = _timed_in_fastai(loader.do_item, lambda maker, key: maker.next_sample(key))
    loader.do_batch = _timed_in_fastai(loader.do_batch, lambda maker, samples: library.sample(SAMPLE.between))
