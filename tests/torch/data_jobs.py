"""Training programs whose data is wrong in one way each, and such that are right: data_jobs.py NAME."""

import random
import sys
import threading
import time

import numpy
import torch
from torch.utils.data import DataLoader, Dataset, DistributedSampler, IterableDataset, get_worker_info


class Noisy(Dataset):
    """Samples with random numbers of the generator that is asked for."""

    def __init__(self, samples=64, generator="torch"):
        self.samples, self.generator = samples, generator
        self.own = numpy.random.default_rng(0)
        self.difficulty = 0

    def __len__(self):
        return self.samples

    def __getitem__(self, index):
        noise = {"numpy": numpy.random.rand, "own": self.own.random, "python": random.random,
                 "torch": lambda: torch.rand(1).item()}[self.generator]()
        return torch.full((4,), index + noise)


class Stream(IterableDataset):
    def __init__(self, split):
        self.split = split

    def __len__(self):
        return 64

    def __iter__(self):
        info = get_worker_info()
        for index in range(info.id if self.split else 0, 64, info.num_workers if self.split else 1):
            yield torch.full((4,), float(index))


def train(loader, epochs=3, before=lambda epoch: None):
    for epoch in range(epochs):
        before(epoch)
        for _ in loader:
            time.sleep(0.002)


def forgets_set_epoch():
    data = Noisy()
    train(DataLoader(data, batch_size=8, num_workers=1, sampler=DistributedSampler(data, 2, 0)))


def sets_epoch():
    data = Noisy()
    sampler = DistributedSampler(data, 2, 0)
    train(DataLoader(data, batch_size=8, num_workers=1, sampler=sampler), before=sampler.set_epoch)


def copied_stream():
    train(DataLoader(Stream(split=False), batch_size=4, num_workers=2), epochs=1)


def split_stream():
    train(DataLoader(Stream(split=True), batch_size=4, num_workers=2, persistent_workers=True))


def numpy_seeded(worker):
    numpy.random.seed(7)


def equal_numpy_seeds():
    train(DataLoader(Noisy(generator="numpy"), batch_size=8, num_workers=2, shuffle=True, worker_init_fn=numpy_seeded))


def equal_own_generators():
    train(DataLoader(Noisy(generator="own"), batch_size=8, num_workers=2, shuffle=True, persistent_workers=True))


def stale_workers():
    data = Noisy()

    def harder(epoch):
        data.difficulty = epoch

    train(DataLoader(data, batch_size=8, num_workers=2, shuffle=True, persistent_workers=True), before=harder)


def good():
    """Shuffles, draws from every generator as PyTorch seeds it, sets no generator again."""
    data = Noisy(generator="numpy")
    train(DataLoader(data, batch_size=8, num_workers=2, shuffle=True, persistent_workers=True))


def validation():
    """The same samples in the same order, and no randomness, every time."""
    torch.manual_seed(0)
    train(DataLoader(Noisy(generator="python"), batch_size=8, num_workers=2, worker_init_fn=python_seeded))


def python_seeded(worker):
    random.seed(worker)


class Sentences(Dataset):
    def __len__(self):
        return 160

    def __getitem__(self, index):
        return torch.ones(10 if index % 8 else 90, dtype=torch.int64)


def padded(samples):
    return torch.nn.utils.rnn.pad_sequence(samples, batch_first=True)


def pads():
    train(DataLoader(Sentences(), batch_size=8, num_workers=1, collate_fn=padded))


class Shared(Noisy):
    """Data set whose worker has another thread that computes in Python."""

    def __getitem__(self, index):
        if self.difficulty == 0:
            self.difficulty = 1
            threading.Thread(target=spin, daemon=True).start()
        return torch.tensor(sum(i * i for i in range(3000)))


def spin():
    while True:
        sum(range(1000))


def shares_lock():
    train(DataLoader(Shared(400), batch_size=8, num_workers=1), epochs=1)


if __name__ == "__main__":
    globals()[sys.argv[1]]()
