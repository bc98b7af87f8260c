"""Training programs whose DataLoader a framework makes: frameworks.py NAME [WORKERS]. The frameworks are pretended ones, as
far as it can be seen who makes a loader."""

import sys
import time
import types

import torch
from torch.utils.data import DataLoader, Dataset


def pretend(name, source):
    module = types.ModuleType(name)
    exec(compile(source, f"{name}.py", "exec"), module.__dict__)
    sys.modules[name] = module
    return module


class Slow(Dataset):
    """Samples of 3 ms."""

    def __len__(self):
        return 480

    def __getitem__(self, index):
        time.sleep(0.003)
        return torch.full((64,), float(index))


def train(loader):
    for _ in loader:
        time.sleep(0.002)


def plain(workers):
    train(DataLoader(Slow(), batch_size=8, num_workers=workers))


def transformers(workers):
    """Trainer that makes a DataLoader, of which accelerate makes another one."""
    accelerate = pretend("accelerate", """
from torch.utils.data import DataLoader

def prepare(loader):
    return DataLoader(loader.dataset, batch_size=loader.batch_size, num_workers=loader.num_workers)
""")
    trainer = pretend("transformers", """
from torch.utils.data import DataLoader

def loader_of(dataset, workers, prepare):
    return prepare(DataLoader(dataset, batch_size=8, num_workers=workers))
""")
    train(trainer.loader_of(Slow(), workers, accelerate.prepare))


def lightning(workers):
    """Trainer that asks the program for a loader."""
    trainer = pretend("lightning", "def fit(make, train): train(make())")
    trainer.fit(lambda: DataLoader(Slow(), batch_size=8, num_workers=workers), train)


def shards(workers):
    """A stream of one shard, for which there are more workers."""
    library = pretend("datasets", """
import time, torch
from torch.utils.data import IterableDataset, get_worker_info

class Stream(IterableDataset):
    num_shards = 1

    def __iter__(self):
        for index in range(320 if get_worker_info().id == 0 else 0):
            time.sleep(0.003)
            yield torch.full((64,), float(index))
""")
    train(DataLoader(library.Stream(), batch_size=8, num_workers=workers))


if __name__ == "__main__":
    globals()[sys.argv[1]](int(sys.argv[2]))
