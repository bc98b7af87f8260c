"""Work of our hooks in a program, in counts: calls of functions and objects, never times. The program is bad for them: batches of
a million objects, an iterator per batch, thousands of copies that copy nothing. It prints one line of JSON."""

import gc
import json
import os
import sys
import time

import torch
from torch.utils.data import DataLoader, TensorDataset

OURS = f"{os.sep}loaderscope_guest{os.sep}"
BATCHES = 50


def our_calls(run) -> int:
    """Returns the calls that our functions make or receive."""
    counted = [0]

    def count(frame, event, argument):
        if event in ("call", "c_call") and OURS in frame.f_code.co_filename:
            counted[0] += 1

    sys.setprofile(count)
    try:
        run()
    finally:
        sys.setprofile(None)
    return counted[0]


class Part:
    """Part of a batch that counts looks at its size."""

    looks = 0

    @property
    def nbytes(self):
        Part.looks += 1
        return 1


class Slow:
    """Samples that take long enough to be timed one by one."""

    def __len__(self):
        return 400

    def __getitem__(self, index):
        time.sleep(1e-4)
        return index


def take(loader, batches: int) -> None:
    for number, _ in enumerate(loader, 1):
        if number == batches:
            break


def calls_per_iterator(made) -> float:
    loader = DataLoader(made, 16)
    take(loader, 1)
    return our_calls(lambda: [take(loader, 1) for _ in range(BATCHES)]) / BATCHES


def calls_per_batch(made, size: int) -> float:
    """Returns the calls of one batch within an epoch. The smallest of three counts: rare looks add to the others."""
    loader = DataLoader(made, size)
    take(loader, 2)
    calls = [[our_calls(lambda: take(loader, count)) for count in (5, 25)] for _ in range(3)]
    return min(many - few for few, many in calls) / 20


def calls_per_copy() -> float:
    (first,) = next(iter(DataLoader(TensorDataset(torch.zeros(4, 2)), 4)))
    device, other = torch.device("cpu"), torch.zeros(2)

    def copy():
        for _ in range(1000):
            first.to("cpu")
            first.to(device, non_blocking=True)
            first.to(device=device)
            first.to(torch.float32)
            first.to(other)
            first.copy_(first)

    return our_calls(copy) / 6000


def objects_looked_at() -> int:
    """Returns the most looks at the parts of one batch of a million."""
    batch = [[Part() for _ in range(1000)] for _ in range(1000)]
    most = 0
    for _ in range(20):
        loader, before = DataLoader(range(4), 4, collate_fn=lambda samples: batch), Part.looks
        take(loader, 1)
        most = max(most, Part.looks - before)
    return most


def kept_by_batches(made) -> float:
    """Objects that the collector counts, more with each batch."""
    loader = DataLoader(made, 16)
    take(loader, BATCHES)
    iterator = iter(loader)
    next(iterator)
    gc.disable()
    before = gc.get_count()[0]
    for _ in range(BATCHES):
        next(iterator)
    kept = gc.get_count()[0] - before
    gc.enable()
    return kept / BATCHES


def kept_by_iterators(made) -> float:
    loader = DataLoader(made, 16)
    for _ in range(10):
        take(loader, 1)
    gc.disable()
    before = gc.get_count()[0]
    for _ in range(BATCHES):
        take(loader, 1)
    kept = gc.get_count()[0] - before
    gc.enable()
    return kept / BATCHES


class ObjectCounts:
    def __len__(self):
        return 400

    def __getitem__(self, index):
        gc.disable()
        return gc.get_count()[0]


def kept_in_worker() -> float:
    counts = [int(batch.max()) for batch in DataLoader(ObjectCounts(), 4, num_workers=1)]
    return (counts[-1] - counts[20]) / (len(counts) - 21)


class Keeping:
    """Keeps new objects with each sample."""

    def __init__(self):
        self.kept = []

    def __len__(self):
        return 40

    def __getitem__(self, index):
        self.kept += [[] for _ in range(100)]
        return full_collections()


def full_collections() -> int:
    return gc.get_stats()[2]["collections"]


def full_collections_by_workers() -> int:
    """Returns how many a worker makes more than the trainer, which forks shortly before its next one."""
    if gc.get_threshold()[2] == 0:  # since Python 3.14 no count brings one
        return 0
    loader, kept = DataLoader(Keeping(), 4, num_workers=1), []
    take(loader, 1)  # the first iterator imports modules
    while gc.get_count()[2] <= gc.get_threshold()[2]:
        kept.append([])
    return max(int(batch.max()) for _ in range(3) for batch in loader) - full_collections()


def main() -> None:
    made = TensorDataset(torch.zeros(1600, 2), torch.zeros(1600))
    full = full_collections_by_workers()
    figures = {
        "calls_per_iterator": calls_per_iterator(made),
        "calls_per_batch": calls_per_batch(made, 16),
        "calls_per_sample": (calls_per_batch(Slow(), 12) - calls_per_batch(Slow(), 4)) / 8,
        "calls_per_copy": calls_per_copy(),
        "objects_looked_at": objects_looked_at(),
        "kept_per_batch": kept_by_batches(range(1600)),
        "kept_per_iterator": kept_by_iterators(range(1600)),
        "kept_per_batch_in_worker": kept_in_worker(),
        "full_collections_by_workers": full,
    }
    print(json.dumps(figures), file=sys.stderr, flush=True)


main()
