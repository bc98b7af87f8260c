"""Objects of the program whose own methods must not be called, or only as often as without loaderscope."""

import threading

import torch
from torch.utils.data import DataLoader, Dataset, RandomSampler, Sampler

NEEDS = "torch"


class _Squares(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return index * index


class _HashedLoader(DataLoader):
    """Loader whose hash and equality need members that are set after the constructor of DataLoader."""

    def __init__(self, name, *arguments, **named):
        super().__init__(*arguments, **named)
        self.name = name

    def __hash__(self):
        return hash(self.name)

    def __eq__(self, other):
        return self.name == other.name


class _Untouchable:
    """Fails if it is compared, hashed, measured or asked whether it is true."""

    def _fail(self, *_):
        raise AssertionError("called")

    __eq__ = __ne__ = __hash__ = __bool__ = __len__ = __iter__ = __contains__ = _fail


class _UntouchableDataset(_Squares):
    def __init__(self):
        self.held = _Untouchable()

    def __eq__(self, other):
        raise AssertionError("compared")

    def __hash__(self):
        raise AssertionError("hashed")


class _UntouchableSamples(_Squares):
    def __getitem__(self, index):
        return _Untouchable()


class _UntouchableTransform(_Untouchable):
    def __call__(self, value):
        return value + 1


class _UnhashableLoader(DataLoader):
    __hash__ = None


class _SlottedSampler(Sampler):
    __slots__ = ()

    def __init__(self):
        pass

    def __iter__(self):
        return iter([3, 1, 2])

    def __len__(self):
        return 3


class _Odd(DataLoader):
    def __getattr__(self, name):
        raise LookupError(name)


class _AskingSampler(Sampler):
    """Another thread makes an iterator while this one's iterator is made."""

    def __init__(self):
        self.batches = []

    def __iter__(self):
        thread = threading.Thread(target=lambda: self.batches.append(_taken(DataLoader(_Squares(), 4, num_workers=1))))
        thread.start()
        thread.join(30)
        self.batches.append(thread.is_alive())
        return iter(range(4))


def _taken(loader):
    return [batch.tolist() for batch in loader]


def _same(samples):
    return samples


def hashes_that_need_attributes():
    return _taken(_HashedLoader("a", _Squares(), 4)), _taken(_HashedLoader("a", _Squares(), 2, num_workers=1))


def equal_loaders_are_two():
    return [_taken(_HashedLoader("a", _Squares(), size)) for size in (8, 4)], len({_HashedLoader("a", []), _HashedLoader("a", [])})


def loaders_without_a_hash():
    return _taken(_UnhashableLoader(_Squares(), 4))


def data_sets_that_cannot_be_compared():
    return [_taken(DataLoader(_UntouchableDataset(), 4, num_workers=workers)) for workers in (0, 1)]


def samples_that_cannot_be_compared():
    return [[type(sample).__name__ for sample in batch] for batch in DataLoader(_UntouchableSamples(), 4, collate_fn=_same)]


def samplers_with_slots():
    return _taken(DataLoader(_Squares(), 2, sampler=_SlottedSampler()))


def collate_functions_that_cannot_be_compared():
    class Collate(_Untouchable):
        def __call__(self, samples):
            return torch.tensor(samples)

    return _taken(DataLoader(_Squares(), 4, collate_fn=Collate()))


def loaders_that_have_no_other_attribute():
    return _taken(_Odd(_Squares(), 4))


def a_thread_makes_an_iterator_within_another_one():
    sampler = _AskingSampler()
    return _taken(DataLoader(_Squares(), 2, sampler=sampler, num_workers=1)), sampler.batches


def iterators_of_many_threads():
    found = []
    threads = [threading.Thread(target=lambda: found.append(_taken(DataLoader(_Squares(), 4, num_workers=1)))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def generators_of_a_sampler():
    generator = torch.Generator().manual_seed(3)
    return _taken(DataLoader(_Squares(), 4, sampler=RandomSampler(_Squares(), generator=generator), generator=generator))
