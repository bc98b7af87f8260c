"""Loaders around a DataLoader, written as people write them, each with a classic fault: prefetchers.py NAME trains
with one; --loader takes the functions make_NAME. JOB_DEVICE: where batches go; else a GPU, else nowhere."""

import contextlib
import os
import sys
import time

import torch
from torch.utils.data import DataLoader

from jobs import Sleeping

GPU = torch.cuda.is_available()
DEVICE = torch.device(os.environ.get("JOB_DEVICE") or ("cuda" if GPU else "cpu"))


def make_stream():
    return torch.cuda.Stream() if GPU else None


def on_stream(stream):
    return torch.cuda.stream(stream) if stream is not None else contextlib.nullcontext()


def wait_for(stream):
    if stream is not None:
        torch.cuda.current_stream().wait_stream(stream)


class DataPrefetcher:
    """Mimics NVIDIA apex: next() gives None at the end. Fault: what it holds is ready, and yet it fetches the next
    batch before it gives it."""

    def __init__(self, loader):
        self.loader = iter(loader)
        self.stream = make_stream()
        self.preload()

    def preload(self):
        try:
            self.next_input, self.next_target = next(self.loader)
        except StopIteration:
            self.next_input = self.next_target = None
            return
        with on_stream(self.stream):
            self.next_input = self.next_input.to(DEVICE, non_blocking=True)
            self.next_target = self.next_target.to(DEVICE, non_blocking=True)

    def next(self):
        wait_for(self.stream)
        input, target = self.next_input, self.next_target
        self.preload()
        return input, target


class FailingPrefetcher(DataPrefetcher):
    """Fault: the end of an epoch is not handled."""

    def preload(self):
        self.next_input, self.next_target = next(self.loader, (None, None))
        self.next_input = self.next_input.to(DEVICE, non_blocking=True)
        self.next_target = self.next_target.to(DEVICE, non_blocking=True)


class CUDAPrefetcher:
    """Faults: the first batch is given twice, and the first time as it came, on the CPU."""

    def __init__(self, loader):
        self.loader = loader
        self.stream = make_stream()

    def __len__(self):
        return len(self.loader)

    def __iter__(self):
        held = None
        for batch in self.loader:
            if held is None:
                held = self.copied(batch)
                yield batch
                continue
            wait_for(self.stream)
            yield held
            held = self.copied(batch)
        yield held

    def copied(self, batch):
        with on_stream(self.stream):
            return [part.to(DEVICE, non_blocking=True) for part in batch]


class Copying:
    """No fault: gives what it has copied at once."""

    def __init__(self, loader):
        self.loader = loader

    def __iter__(self):
        for batch in self.loader:
            yield [part.to(DEVICE, non_blocking=True) for part in batch]


class Dropping(Copying):
    """Fault: the end of the DataLoader is the end, also where a batch is held."""

    def __iter__(self):
        batches = super().__iter__()
        held = next(batches)
        for batch in batches:
            yield held
            held = batch


def make_plain():
    return DataLoader(Sleeping(samples=96, seconds=0.002), batch_size=8, num_workers=1)


def make_prefetcher():
    return DataPrefetcher(make_plain())


def make_failing():
    return FailingPrefetcher(make_plain())


def make_twice():
    return CUDAPrefetcher(make_plain())


def make_copying():
    return Copying(make_plain())


def make_dropping():
    return Dropping(make_plain())


def make_nothing():
    make_plain()
    return 7


class OnDevice(Sleeping):
    def __getitem__(self, index):
        time.sleep(self.seconds)
        return torch.full((3, 8, 8), index, dtype=torch.float32, device=DEVICE)


def make_on_device():
    return DataLoader(OnDevice(samples=96, seconds=0.002), batch_size=8, num_workers=0)


def step():
    if DEVICE.type == "cuda":
        torch.cuda._sleep(4_000_000)  # cycles: 2 to 4 ms
    time.sleep(0.004)


def train(loader):
    if hasattr(loader, "next"):
        batch = loader.next()
        while batch[0] is not None:
            step()
            batch = loader.next()
    else:
        for batch in loader:
            step()


if __name__ == "__main__":
    make = globals()["make_" + sys.argv[1]]
    for _ in range(2):
        train(make())
