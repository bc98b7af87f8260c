"""Training loops as people write them, each a function: loops.py NAME [WORKERS]. What each prints last is a line of
JSON: how many batches its training loader gave."""

import argparse
import itertools
import json
import os
import sys
import time

import torch
from torch.utils.data import DataLoader, DistributedSampler, get_worker_info

from jobs import Sleeping


def said(batches):
    print(json.dumps({"batches": batches}), flush=True)


def train_on(batch, seconds=0.002):
    time.sleep(seconds)


class DataModule:
    def __init__(self, workers):
        self.workers = workers

    def train_dataloader(self):
        return DataLoader(Sleeping(320, 0.001), batch_size=8, num_workers=self.workers)  # the one to measure

    def val_dataloader(self):
        return DataLoader(Sleeping(80, 0.001), batch_size=4, num_workers=self.workers)


class Trainer:
    """Mimics Lightning: two batches of the validation first, to find mistakes early; then epochs, each with one."""

    def fit(self, data, epochs=2):
        self.validate(data.val_dataloader(), most=2)
        training = data.train_dataloader()
        validation = data.val_dataloader()
        batches = 0
        for _ in range(epochs):
            for batch in training:
                train_on(batch)
                batches += 1
            self.validate(validation)
        said(batches)

    def validate(self, loader, most=None):
        with torch.no_grad():
            for batch in itertools.islice(loader, most):
                train_on(batch, 0.001)


def lightning(workers):
    Trainer().fit(DataModule(workers))


class Burning(Sleeping):
    """Each sample takes CPU time."""

    def __getitem__(self, i):
        until = time.thread_time() + self.seconds
        while time.thread_time() < until:
            pass
        return torch.zeros(4), i


def short(workers):
    """Ends before it is sampled twice."""
    batches = 0
    for batch in DataLoader(Burning(320, 0.001), batch_size=8, num_workers=workers):
        batches += 1
    said(batches)


def accumulated(workers):
    """Gradients of four batches, then a step of the optimiser."""
    model = torch.nn.Linear(192, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    batches = 0
    for images, _ in DataLoader(Sleeping(320, 0.001), batch_size=8, num_workers=workers):
        (model(images.flatten(1)).mean() / 4).backward()
        batches += 1
        if batches % 4 == 0:
            optimizer.step()
            optimizer.zero_grad()
    said(batches)


def zipped(workers):
    """Two loaders at once: images that have labels, and more that have none."""
    labelled = DataLoader(Sleeping(320, 0.001), batch_size=8, num_workers=workers)
    unlabelled = DataLoader(Sleeping(640, 0.0005), batch_size=16, num_workers=workers)
    batches = 0
    for labels, images in zip(labelled, unlabelled):
        train_on(labels)
        batches += 1
    said(batches)


def zipped_unequal(workers):
    """The second loader is the slow one."""
    fast = DataLoader(Sleeping(320, 0.0002), batch_size=8, num_workers=workers)
    slow = DataLoader(Sleeping(320, 0.03), batch_size=8, num_workers=workers)
    batches = 0
    for one, other in zip(fast, slow):
        train_on(one)
        batches += 1
    said(batches)


def next_calls(workers):
    """Steps, not epochs: a new iterator replaces one that has ended."""
    loader = DataLoader(Sleeping(160, 0.001), batch_size=8, num_workers=workers)
    iterator = iter(loader)
    step = 0
    while step < 50:
        try:
            batch = next(iterator)
        except StopIteration:
            iterator = iter(loader)
            continue
        train_on(batch)
        step += 1
    said(step)


def sliced(workers):
    batches = 0
    for batch in itertools.islice(DataLoader(Sleeping(800, 0.001), batch_size=8, num_workers=workers), 40):
        train_on(batch)
        batches += 1
    said(batches)


def recreated(workers):
    """A loader per epoch, each on a data set of its own."""
    batches = 0
    for _ in range(3):
        for batch in DataLoader(Sleeping(160, 0.001), batch_size=8, num_workers=workers):
            train_on(batch)
            batches += 1
    said(batches)


def left_early(workers):
    """Each epoch ends long before its data does."""
    loader = DataLoader(Sleeping(800, 0.001), batch_size=8, num_workers=workers, persistent_workers=workers > 0)
    batches = 0
    for _ in range(3):
        for number, batch in enumerate(loader):
            train_on(batch)
            batches += 1
            if number == 14:
                break
    said(batches)


def own_flags(workers):
    """A script with flags of its own, some of them named as ours are."""
    parser = argparse.ArgumentParser()
    parser.add_argument("job")
    parser.add_argument("--workers", type=int)
    parser.add_argument("--batch-size", type=int)
    parser.add_argument("rest", nargs="*")
    given = parser.parse_intermixed_args()
    loader = DataLoader(Sleeping(240, 0.001), batch_size=given.batch_size, num_workers=given.workers)
    print(given.rest)
    said(sum(1 for _ in loader))


class FakeLoader:
    """Mimics fastai's loader: no DataLoader, but the members that PyTorch's iterators need. It gives whole batches."""

    _IterableDataset_len_called, _auto_collation, drop_last, in_order = None, False, False, True
    _index_sampler, generator, worker_init_fn, prefetch_factor = itertools.count(), None, None, 2
    dataset_kind = _dataset_kind = torch.utils.data.dataloader._DatasetKind.Iterable
    pin_memory, pin_memory_device, timeout, persistent_workers, multiprocessing_context = False, "", 0, False, None

    def __init__(self, workers):
        self.dataset, self.num_workers = self, workers

    def collate_fn(self, batch):
        return batch

    def __iter__(self):
        worker = get_worker_info()
        for first in range(worker.id if worker else 0, 30, worker.num_workers if worker else 1):
            time.sleep(0.004)
            yield torch.full((8, 3, 8, 8), first), torch.arange(8)


def makes_its_iterators(workers):
    kinds = torch.utils.data.dataloader
    make = kinds._MultiProcessingDataLoaderIter if workers else kinds._SingleProcessDataLoaderIter
    fake_loader, batches = FakeLoader(workers), 0
    for _ in range(2):
        for batch in make(fake_loader):
            train_on(batch)
            batches += 1
    said(batches)


def train_rank(rank, world, workers, seconds=0.001):
    torch.distributed.init_process_group("gloo", rank=rank, world_size=world)
    dataset = Sleeping(320, seconds)
    sampler = DistributedSampler(dataset, shuffle=True)
    loader = DataLoader(dataset, batch_size=8, num_workers=workers, sampler=sampler)
    batches = 0
    for epoch in range(2):
        sampler.set_epoch(epoch)
        for batch in loader:
            train_on(batch)
            torch.distributed.all_reduce(torch.zeros(8))
            batches += 1
    torch.distributed.destroy_process_group()
    if rank == 0:
        said(batches)


def distributed(workers):
    """Below torchrun."""
    train_rank(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), workers)


def unlike_ranks(workers):
    """Below torchrun: the last rank's samples take five times as long, as on a disk of its own that is slower."""
    rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    train_rank(rank, world, workers, 0.005 if rank == world - 1 else 0.001)


def spawned_ranks(workers):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="0")
    from torch.distributed.elastic.utils.distributed import get_free_port

    os.environ["MASTER_PORT"] = str(get_free_port())
    torch.multiprocessing.spawn(train_rank, args=(2, workers), nprocs=2)


if __name__ == "__main__":
    globals()[sys.argv[1]](int(sys.argv[2]) if len(sys.argv) > 2 and sys.argv[2].isdigit() else 2)
