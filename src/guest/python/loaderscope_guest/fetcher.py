"""Parts with which a process makes batches: its data set, which returns single samples, and the collate function."""

import functools
import weakref
from types import ModuleType
from typing import Any, Callable, Dict

from loaderscope_guest import batch_work, inject, library, messages, stages, user_code
from loaderscope_guest.counters import counters
from loaderscope_guest.fastai_loader import is_fastai_wrapper
from loaderscope_guest.padding import LOOK_EVERY, padding
from loaderscope_guest.batch_sizes import get_length
from loaderscope_guest.streams import Samples, counts_alone


class _Dataset:
    """The data set, as the fetcher sees it."""

    def __init__(self, dataset: Any, gives_batches: bool, maker: batch_work.Making) -> None:
        self._loaderscope_dataset = dataset
        self._loaderscope_making = maker
        self._loaderscope_gives_batches = gives_batches
        if getattr(dataset, "__getitems__", None):
            self.__getitems__ = self._many

    def __getitem__(self, key: Any) -> Any:
        if self._loaderscope_gives_batches:
            self._loaderscope_making.whole_batch()
        else:
            self._loaderscope_making.next_sample(key)
        return self._loaderscope_dataset[key]

    def stand_for(self, dataset: Any) -> None:
        self._loaderscope_dataset = dataset

    def _many(self, keys: Any) -> Any:
        self._loaderscope_making.whole_batch(get_length(keys) or None)
        return self._loaderscope_dataset.__getitems__(keys)

    def __getattr__(self, name: str) -> Any:
        if name == "__getitems__":
            raise AttributeError(name)
        return getattr(self._loaderscope_dataset, name)


def _timed_collate(collate: Callable[[Any], Any], maker: batch_work.Making) -> Any:
    """Made for each iterator. No reference to `collate` is kept elsewhere, as it may hold all of the program's data: the time of
    all functions of its name is added up elsewhere."""

    def looking(samples: Any) -> Any:
        batch = collate(samples)
        padding.keep(samples, batch)
        return batch

    before = functools.partial(_inject_collate, maker.worker) if inject.ANY else None
    timed = library.timed(collate, stages.COLLATE, False, True, False, False, before, looking)
    library.handles_batch(timed, user_code.spending.account("collate", user_code.quick_name(collate)), LOOK_EVERY)
    return timed


def _inject_collate(worker: int) -> None:
    inject.apply("collate", worker)


class Hidden:
    """Stand-ins for the data set, or for its iterator, while a batch is made. The fetcher has the originals between two
    batches. Code that asks them for their state, or compares their identity, gets the true answer."""

    def __init__(self, fetcher: Any, own: Dict[str, Any], maker: batch_work.Making) -> None:
        self._fetcher = weakref.ref(fetcher)
        self._fetch = type(fetcher).fetch
        self._making = maker
        self.substitutes = {name: getattr(fetcher, name) for name in own if getattr(fetcher, name) is not own[name]}
        for name in self.substitutes:
            setattr(fetcher, name, own[name])
        fetcher.fetch = self.fetch

    def fetch(self, keys: Any) -> Any:
        fetcher = self._fetcher()
        if not self._making.is_here():
            return self._fetch(fetcher, keys)
        own = {name: getattr(fetcher, name) for name in self.substitutes}
        for name, stand_in in self.substitutes.items():
            stand_in.stand_for(own[name])  # a state that was loaded may have brought another one
            setattr(fetcher, name, stand_in)
        try:
            return self._fetch(fetcher, keys)
        finally:
            for name, value in own.items():
                setattr(fetcher, name, value)


def _hidden(fetcher: Any) -> Any:
    return getattr(fetcher, "_loaderscope_hidden", None)


def watch(fetcher: Any, maker: batch_work.Making) -> None:
    """Decides whether samples are distinguished. It depends on the cost. Samples of a data set that returns whole
    batches cannot be distinguished."""
    hidden = _hidden(fetcher)
    samples = getattr(fetcher, "dataset_iter", None)
    if hidden is None and isinstance(samples, Samples) and fetcher.auto_collation and not samples.reports_samples:
        maker.separate_samples(functools.partial(counts_alone, weakref.ref(fetcher)))
        return
    dataset = hidden.substitutes.get("dataset") if hidden else getattr(fetcher, "dataset", None)
    if isinstance(dataset, _Dataset) and fetcher.auto_collation and not hasattr(dataset, "__getitems__"):
        maker.separate_samples(functools.partial(_give_own_dataset, weakref.ref(fetcher)))
    else:
        maker.separate_samples(None)


def _give_own_dataset(fetcher: Any) -> bool:
    """`fetcher`: a weak reference, as the fetcher holds the maker, which keeps this function."""
    counters.put("data.cheap_samples", 1)
    hidden = _hidden(fetcher())
    if hidden:
        hidden.substitutes.clear()
    else:
        fetcher().dataset = fetcher().dataset._loaderscope_dataset
    return True


def _hook(fetcher: Any, maker: batch_work.Making) -> Any:
    """A part that a fetcher of this version does not have stays opaque."""
    maker.dataset = getattr(fetcher, "dataset", None)
    own = {name: getattr(fetcher, name) for name in ("dataset", "dataset_iter") if hasattr(fetcher, name)}
    gives_batches = not getattr(fetcher, "auto_collation", True)  # batch_size=None
    if hasattr(fetcher, "dataset_iter"):
        fetcher.dataset_iter = Samples(fetcher.dataset_iter, maker.dataset, gives_batches, maker)
    elif hasattr(fetcher, "dataset"):
        fetcher.dataset = _Dataset(fetcher.dataset, gives_batches, maker)
    else:
        messages.degraded("the fetcher of this PyTorch has no data set: samples are not distinguished")
    if callable(getattr(fetcher, "collate_fn", None)) and not is_fastai_wrapper(maker.dataset):
        fetcher.collate_fn = _timed_collate(fetcher.collate_fn, maker)
    if maker.reports_state:
        fetcher._loaderscope_hidden = Hidden(fetcher, own, maker)
    watch(fetcher, maker)
    return fetcher


def install(module: ModuleType) -> None:
    kinds = module._DatasetKind
    original = kinds.create_fetcher

    def create_fetcher(*arguments: Any, **named: Any) -> Any:
        maker = batch_work.thread_state.maker or batch_work.current
        if maker is None or maker.has_fetcher:  # the fetcher of a loader within a data set
            return original(*arguments, **named)
        maker.has_fetcher = True
        fetcher = original(*arguments, **named)
        try:
            return _hook(fetcher, maker)
        except Exception as error:
            messages.degraded(f"samples are not distinguished: {error!r}")
            return fetcher

    kinds.create_fetcher = staticmethod(create_fetcher)
