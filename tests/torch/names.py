"""Training programs that wait for something of their own, which is to be named: names.py NAME [WORKERS]."""

import ctypes
import sys
import time

import torch
from torch.utils.data import DataLoader, Dataset, Sampler


class Numbers(Dataset):
    """Samples that take next to no time."""

    def __len__(self):
        return 480

    def __getitem__(self, index):
        return torch.full((64,), float(index))


class Balanced(Sampler):
    """Takes 2 ms to choose each sample."""

    def __iter__(self):
        for index in range(480):
            time.sleep(0.002)
            yield index

    def __len__(self):
        return 480


def train(loader):
    for _ in loader:
        time.sleep(0.002)


def slow_sampler(workers):
    """16 ms of each step of 18."""
    train(DataLoader(Numbers(), batch_size=8, sampler=Balanced(), num_workers=workers))


class Computed(Numbers):
    """In Python, with its lock: about 4 ms each."""

    def __getitem__(self, index):
        return torch.full((3, 64, 64), float(compute_feature(index)))


def compute_feature(index):
    total = 0
    for step in range(60000):
        total += index * step % 7
    return total


def python_bound(workers):
    train(DataLoader(Computed(), batch_size=8, num_workers=workers))


def two_epochs(workers):
    loader = DataLoader(Computed(), batch_size=8, num_workers=workers)
    for _ in range(2):
        train(loader)


def wait_in_poll():
    """100 ms, by a system call that the kernel never restarts after a signal."""
    if ctypes.CDLL(None).poll(None, 0, 100) != 0:
        raise InterruptedError("a signal came while poll waited")


class Polled(Numbers):
    def __len__(self):
        return 32

    def __getitem__(self, index):
        wait_in_poll()
        return torch.full((4,), float(index))


def polls(workers):
    train(DataLoader(Polled(), batch_size=4, num_workers=workers))


class Wide(Numbers):
    """1 MiB each."""

    def __getitem__(self, index):
        return torch.full((512, 512), float(index))


def stacked_slowly(samples):
    """Four times what default_collate does once."""
    for _ in range(3):
        torch.stack(samples)
    return torch.utils.data.default_collate(samples)


def stacked_elsewhere(samples):
    """Not in the memory that a worker shares with the trainer."""
    return torch.stack(samples)


def slow_collate(workers):
    train(DataLoader(Wide(), batch_size=32, num_workers=workers, collate_fn=stacked_slowly))


def copied_when_sent(workers):
    train(DataLoader(Wide(), batch_size=32, num_workers=workers, collate_fn=stacked_elsewhere))


class Words(Numbers):
    """No tensors."""

    def __getitem__(self, index):
        return [(index, step, str(step)) for step in range(4000)]


def pickled_objects(workers):
    train(DataLoader(Words(), batch_size=8, num_workers=workers, collate_fn=list))


if __name__ == "__main__":
    globals()[sys.argv[1]](int(sys.argv[2]))
