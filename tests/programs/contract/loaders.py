"""Batches that a training takes from its DataLoaders."""

import copy
import gc
import pickle
import random
import weakref

import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset

NEEDS = "torch"


class Squares(Dataset):
    def __len__(self):
        return 12

    def __getitem__(self, index):
        return index * index


class Failing(Squares):
    def __getitem__(self, index):
        if index == 5:
            raise KeyError("five")
        return index


class Counter(IterableDataset):
    def __iter__(self):
        info = torch.utils.data.get_worker_info()
        return iter(range(info.id if info else 0, 9, info.num_workers if info else 1))


class Nested(Squares):
    def __getitem__(self, index):
        return sum(int(batch.sum()) for batch in DataLoader(Squares(), 4)) + index


def _taken(loader):
    return [batch.tolist() for batch in loader]


def _failed_collate(samples):
    raise ValueError(f"collate of {samples}")


def _raised(loader):
    try:
        return _taken(loader)
    except Exception as error:
        return type(error).__name__, str(error).splitlines()[0], str(error).splitlines()[-1]
    finally:
        gc.collect()  # a worker that is forked next would say that it has the iterator


def batches_without_workers():
    return _taken(DataLoader(Squares(), 4))


def batches_with_workers():
    return _taken(DataLoader(Squares(), 4, num_workers=2))


def shuffled_batches():
    torch.manual_seed(7)
    return _taken(DataLoader(Squares(), 4, shuffle=True, num_workers=1)), torch.rand(2).tolist(), random.Random(1).random()


def streams():
    return _taken(DataLoader(Counter(), 2)), _taken(DataLoader(Counter(), 2, num_workers=2))


def persistent_workers():
    loader = DataLoader(Squares(), 5, num_workers=1, persistent_workers=True)
    return _taken(loader), _taken(loader)


def a_loader_per_step():
    return [next(iter(DataLoader(Squares(), 3))).tolist() for _ in range(30)]


def nested_loaders():
    return _taken(DataLoader(Nested(), 6)), _taken(DataLoader(Nested(), 6, num_workers=1))


def a_sample_fails():
    return [_raised(DataLoader(Failing(), 4, num_workers=workers)) for workers in (0, 1)]


def collate_fails():
    return [_raised(DataLoader(Squares(), 4, num_workers=workers, collate_fn=_failed_collate)) for workers in (0, 1)]


def a_deep_copy_of_a_loader():
    loader = DataLoader(Squares(), 4)
    return _taken(copy.deepcopy(loader)), sorted(vars(loader)) == sorted(vars(copy.copy(loader)))


def pickles_of_loaders():
    return [len(pickle.dumps(DataLoader(Squares(), 4, num_workers=workers))) for workers in (0, 2)]


def loaders_are_collected():
    loader = DataLoader(TensorDataset(torch.arange(6)), 2)
    iterator = iter(loader)
    next(iterator)
    known = weakref.ref(loader), weakref.ref(iterator)
    del loader, iterator
    return [reference() is None for reference in known]


def attributes_of_an_iterator():
    iterator = iter(DataLoader(Squares(), 4))
    next(iterator)
    return type(iterator).__name__, len(iterator), iterator._dataset.__class__.__name__, isinstance(iterator, type(iterator))
