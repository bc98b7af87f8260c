"""DataLoaders with each option that PyTorch has, each a function: options.py NAME [WORKERS]. What each prints last is
a line of JSON: how many batches it gave."""

import json
import multiprocessing
import sys

import torch
from torch.utils.data import BatchSampler, ConcatDataset, DataLoader, IterableDataset, RandomSampler, Subset
from torch.utils.data import random_split

from jobs import Sleeping

SAMPLES = Sleeping(160, 0.001)


def count(loader, epochs=2):
    batches = 0
    for _ in range(epochs):
        for _ in loader:
            batches += 1
    print(json.dumps({"batches": batches}), flush=True)


def spawn(workers):
    count(DataLoader(SAMPLES, batch_size=4, num_workers=workers, multiprocessing_context="spawn"), 1)


def forkserver(workers):
    context = multiprocessing.get_context("forkserver")
    count(DataLoader(SAMPLES, batch_size=4, num_workers=workers, multiprocessing_context=context), 1)


def any_order(workers):
    count(DataLoader(SAMPLES, batch_size=4, num_workers=workers, in_order=False))


def pins(workers):
    """Without a GPU PyTorch warns, and does not pin."""
    count(DataLoader(SAMPLES, batch_size=4, num_workers=workers, pin_memory=True))


def whole_loader(workers):
    """One that says nothing of how it is to load."""
    count(DataLoader(SAMPLES))


def prepare_worker(number):
    torch.manual_seed(number)


def everything(workers):
    count(DataLoader(SAMPLES, batch_size=4, shuffle=True, num_workers=workers, persistent_workers=workers > 0,
                     prefetch_factor=4 if workers else None, timeout=30 if workers else 0, drop_last=True,
                     worker_init_fn=prepare_worker, generator=torch.Generator().manual_seed(1)))


def samplers(workers):
    sampler = BatchSampler(RandomSampler(SAMPLES), batch_size=4, drop_last=False)
    count(DataLoader(SAMPLES, batch_sampler=sampler, num_workers=workers))


def one_sampler(workers):
    count(DataLoader(SAMPLES, batch_size=4, sampler=RandomSampler(SAMPLES), num_workers=workers))


def whole_samples(workers):
    count(DataLoader(SAMPLES, batch_size=None, num_workers=workers))


def three_tensors(workers):
    """For longer than half a second, after which a process says what it has counted."""
    count(DataLoader(Sleeping(160, 0.005), batch_size=4, num_workers=workers,
                     collate_fn=lambda samples: {name: torch.zeros(4) for name in "abc"}))


class Many(Sleeping):
    def __getitems__(self, indices):
        return [super(Many, self).__getitem__(index) for index in indices]


def many(workers):
    count(DataLoader(Many(160, 0.001), batch_size=4, num_workers=workers))


class Batches(Sleeping):
    """Data set whose items are whole batches, by the indices of their samples."""

    def __getitem__(self, indices):
        return torch.stack([super(Batches, self).__getitem__(index)[0] for index in indices])


class StreamOfBatches(IterableDataset):
    """Two streams where two workers share it, as webdataset's .batched()."""

    def __iter__(self):
        info = torch.utils.data.get_worker_info()
        whole = Batches(480, 0.002)
        for first in range(info.id * 8, 480, info.num_workers * 8):
            yield whole[range(first, first + 8)]


def batches_at_once(workers):
    count(DataLoader(Many(480, 0.002), batch_size=8, num_workers=workers, persistent_workers=True))


def sampled_batches(workers):
    whole = Batches(480, 0.002)
    sampler = BatchSampler(RandomSampler(range(480)), batch_size=8, drop_last=False)
    count(DataLoader(whole, batch_size=None, sampler=sampler, num_workers=workers, persistent_workers=True))


def streamed_batches(workers):
    count(DataLoader(StreamOfBatches(), batch_size=None, num_workers=workers, persistent_workers=True))


class Rows(IterableDataset):
    def __iter__(self):
        for index in range(160):
            yield SAMPLES[index]


def stream(workers):
    count(DataLoader(Rows(), batch_size=4, num_workers=workers))


def parts(workers):
    first, second = random_split(SAMPLES, [0.75, 0.25])
    whole = ConcatDataset([first, Subset(second, range(20))])
    count(DataLoader(whole, batch_size=4, num_workers=workers))


class Resumable(DataLoader):
    """A loader that knows where it is, as those of torchdata do."""

    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        self.taken = 0

    def __iter__(self):
        for batch in super().__iter__():
            self.taken += 1
            yield batch


def resumable(workers):
    count(Resumable(SAMPLES, batch_size=4, num_workers=workers))


if __name__ == "__main__":
    globals()[sys.argv[1]](int(sys.argv[2]) if len(sys.argv) > 2 else 2)
