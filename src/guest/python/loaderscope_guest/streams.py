"""The samples of an iterable data set, as a fetcher takes them one by one."""

import itertools
import operator
import weakref
from typing import Any, Iterator

from loaderscope_guest import batch_work, wrong_data_samples
from loaderscope_guest.fastai_loader import is_fastai_wrapper


class _Counted:
    """The samples of an iterator, counted without a call for each."""

    def __init__(self, counted: int) -> None:
        self._counter = itertools.count(counted)
        self._taken = counted

    def samples(self, iterator: Iterator[Any]) -> Iterator[Any]:
        return map(operator.itemgetter(0), zip(iterator, self._counter))

    def count(self) -> int:
        return int(repr(self._counter)[len("count(") : -1])

    def take_count(self) -> int:
        """Returns the samples since the last call."""
        before, self._taken = self._taken, self.count()
        return self._taken - before


class Samples:
    """The iterator of an iterable data set."""

    def __init__(self, iterator: Iterator[Any], dataset: Any, gives_batches: bool, maker: batch_work.Making) -> None:
        from torch.utils.data import get_worker_info

        self._iterator = iterator
        self._making = maker
        self._gives_batches = gives_batches
        self.reports_samples = is_fastai_wrapper(dataset)
        self._count = 0
        info = get_worker_info()
        self._identity = wrong_data_samples.Stream(info.num_workers if info else 1, dataset)

    def stand_for(self, iterator: Iterator[Any]) -> None:
        self._iterator = iterator

    def __iter__(self) -> "Samples":
        return self

    def __next__(self) -> Any:
        if self.reports_samples:
            self._making.begin_reported_batch()
        elif self._gives_batches:
            self._making.whole_batch()
        else:
            self._making.next_sample(self._count, is_name=False)
        self._count += 1
        try:
            sample = next(self._iterator)
        except StopIteration:
            self._making.samples = max(0, (self._making.samples or 0) - 1)
            self._identity.end(self._making, self._count - 1)
            raise
        self._identity.add(self._making, sample)
        return sample

    def is_known(self) -> bool:
        return self._count > wrong_data_samples.Stream.MOST

    def count_alone(self, fetcher: Any) -> None:
        """Gives the fetcher the iterator itself, and only counts its samples. After its end, the iterator may be asked
        again."""
        counted = _Counted(self._count)
        self._making.count_by(counted.take_count)
        ending = self._ending(weakref.ref(fetcher), counted)
        fetcher.dataset_iter = itertools.chain(counted.samples(self._iterator), ending)

    def _ending(self, fetcher: Any, counted: _Counted) -> Iterator[Any]:
        fetcher().dataset_iter = self._iterator
        self._identity.end(self._making, counted.count())
        yield from ()


def counts_alone(fetcher: Any) -> bool:
    """`fetcher`: weakly, as the program's iterator is to end when the program has let it go."""
    samples = fetcher().dataset_iter
    if not samples.is_known():
        return False
    samples.count_alone(fetcher())
    return True
