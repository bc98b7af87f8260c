"""fastai's DataLoader: it makes PyTorch's iterators itself, for a stand-in whose samples are its whole batches. What it
makes of them one by one is seen where it does so."""

import functools
from types import ModuleType
from typing import Any, Callable, Dict

from loaderscope_guest import library, making, places, user_code
from loaderscope_guest.protocol import SAMPLE
from loaderscope_guest.sizes import attribute, length_of


def is_stand_in(loader: Any) -> bool:
    return (type(loader).__module__, type(loader).__name__) == ("fastai.data.load", "_FakeLoader")


def facts_of(stand_in: Any) -> Dict[str, Any]:
    """That differ from what the stand-in says of itself."""
    if not is_stand_in(stand_in):
        return {}
    loader = attribute(stand_in, "d")
    size, samples, dataset = (attribute(loader, name) for name in ("bs", "n", "dataset"))
    return {
        "batch_size": size if isinstance(size, int) else 0,
        "samples": samples if isinstance(samples, int) else length_of(dataset),
        "drop_last": bool(attribute(loader, "drop_last")),
        "shuffle": bool(attribute(loader, "shuffle")),
        "dataset": type(dataset).__name__,
        "code": {"opaque": user_code.maker_of(dataset), "collate": "fa_collate"},
    }


def _init(original: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(original)
    def __init__(self: Any, *arguments: Any, **named: Any) -> None:
        places.remember(self)
        original(self, *arguments, **named)

    return __init__


def _told(original: Callable[[Any, Any], Any], tell: Callable[[Any, Any], None]) -> Callable[[Any, Any], Any]:
    """`tell`: given what makes the batch and the argument, where the calling thread makes one that is timed."""

    @functools.wraps(original)
    def told(self: Any, argument: Any) -> Any:
        maker = making.current
        if maker is not None and library.flags.timing and maker.is_here():
            tell(maker, argument)
        return original(self, argument)

    return told


def install(module: ModuleType) -> None:
    stand_in, loader = module._FakeLoader, module.DataLoader
    stand_in.__init__ = _init(stand_in.__init__)
    loader.do_item = _told(loader.do_item, lambda maker, key: maker.next_sample(key))
    loader.do_batch = _told(loader.do_batch, lambda maker, samples: library.sample(SAMPLE.between))
