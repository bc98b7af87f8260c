"""What a process makes batches with: its data set, which gives samples one by one, and what collates them."""

import functools
from types import ModuleType
from typing import Any, Callable, Iterator

from loaderscope_guest import data_identity, inject, library, making, messages
from loaderscope_guest.padding import padding
from loaderscope_guest.stages import COLLATE


class _Dataset:
    """The data set, as the fetcher sees it."""

    def __init__(self, dataset: Any, gives_batches: bool) -> None:
        self._loaderscope_dataset = dataset
        self._loaderscope_gives_batches = gives_batches
        if getattr(dataset, "__getitems__", None):
            self.__getitems__ = self._many

    def __getitem__(self, key: Any) -> Any:
        if self._loaderscope_gives_batches:
            making.current.whole_batch()
        else:
            making.current.next_sample(key)
        return self._loaderscope_dataset[key]

    def _many(self, keys: Any) -> Any:
        making.current.whole_batch(len(keys))
        return self._loaderscope_dataset.__getitems__(keys)

    def __getattr__(self, name: str) -> Any:
        if name == "__getitems__":
            raise AttributeError(name)
        return getattr(self._loaderscope_dataset, name)


class _Samples:
    """The iterator of an iterable data set."""

    def __init__(self, iterator: Iterator[Any], dataset: Any, gives_batches: bool) -> None:
        from torch.utils.data import get_worker_info

        self._iterator = iterator
        self._gives_batches = gives_batches
        self._count = 0
        info = get_worker_info()
        self._identity = data_identity.Stream(info.num_workers if info else 1, data_identity.length_of(dataset))

    def __iter__(self) -> "_Samples":
        return self

    def __next__(self) -> Any:
        if self._gives_batches:
            making.current.whole_batch()
        else:
            making.current.next_sample(self._count, is_name=False)
        self._count += 1
        try:
            sample = next(self._iterator)
        except StopIteration:
            making.current.samples = max(0, (making.current.samples or 0) - 1)
            self._identity.end(making.current)
            raise
        self._identity.add(making.current, sample)
        return sample


def _timed_collate(collate: Callable[[Any], Any]) -> Callable[[Any], Any]:
    @functools.wraps(collate, updated=())
    def timed(samples: Any) -> Any:
        if not library.flags.timing or not making.current.is_here():
            return collate(samples)
        library.sample(making.BETWEEN_SAMPLES)
        library.enter(COLLATE)
        making.current.depth += 1
        inject.apply("collate", making.current.worker)
        try:
            batch = collate(samples)
        finally:
            making.current.depth -= 1
            library.leave(0)
        with messages.never_failing("padding is"):
            padding.look(samples, batch)
        return batch

    return timed


def watch(fetcher: Any, maker: making.Making) -> None:
    """Whether it is worth its while that samples are told apart; a data set that gives whole batches does not."""
    dataset = getattr(fetcher, "dataset", None)
    if isinstance(dataset, _Dataset) and fetcher.auto_collation and not hasattr(dataset, "__getitems__"):
        maker.tell_samples_apart(functools.partial(_give_own_dataset, fetcher))
    else:
        maker.tell_samples_apart(None)


def _give_own_dataset(fetcher: Any) -> None:
    fetcher.dataset = fetcher.dataset._loaderscope_dataset


def _hook(fetcher: Any) -> Any:
    """Of a process that makes batches. A part that a fetcher of this version does not have stays opaque."""
    if making.current is None:
        return fetcher
    making.current.dataset = getattr(fetcher, "dataset", None)
    gives_batches = not getattr(fetcher, "auto_collation", True)  # batch_size=None
    if hasattr(fetcher, "dataset_iter"):
        fetcher.dataset_iter = _Samples(fetcher.dataset_iter, making.current.dataset, gives_batches)
    elif hasattr(fetcher, "dataset"):
        fetcher.dataset = _Dataset(fetcher.dataset, gives_batches)
        watch(fetcher, making.current)
    else:
        messages.degraded("the fetcher of this PyTorch has no data set: samples are not told apart")
    if callable(getattr(fetcher, "collate_fn", None)):
        fetcher.collate_fn = _timed_collate(fetcher.collate_fn)
    return fetcher


def install(module: ModuleType) -> None:
    kinds = module._DatasetKind
    original = kinds.create_fetcher

    def create_fetcher(*arguments: Any, **named: Any) -> Any:
        fetcher = original(*arguments, **named)
        try:
            return _hook(fetcher)
        except Exception as error:
            messages.degraded(f"samples are not told apart: {error!r}")
            return fetcher

    kinds.create_fetcher = staticmethod(create_fetcher)
