"""Programs with loaders, batches and processes as one meets them now and then, each a function: odd_jobs.py NAME
[WORKERS]. Each must behave as if it were not measured, and prints how many batches it has trained with."""

import builtins
import io
import itertools
import json
import multiprocessing
import os
import pickle
import queue
import subprocess
import sys
import threading
import time

import torch
from torch.utils.data import DataLoader, IterableDataset, dataloader

from jobs import Sleeping


def say(batches):
    print(json.dumps({"batches": batches}), file=sys.stderr, flush=True)


def data(samples=320):
    return Sleeping(samples=samples, seconds=0.0005)


def train(loader, epochs=1):
    taken = 0
    for _ in range(epochs):
        for _ in loader:
            time.sleep(0.001)
            taken += 1
    return taken


def peeks(workers):
    """At a picture now and then, which an iterator of its own gives."""
    loader, taken = DataLoader(data(), 8, num_workers=workers), 0
    for _ in loader:
        time.sleep(0.001)
        taken += 1
        if taken % 10 == 0:
            next(iter(loader))
            taken += 1
    say(taken)


def changes_its_workers(workers):
    """Between epochs, which PyTorch allows."""
    loader, taken = DataLoader(data(), 8, num_workers=workers), 0
    for number in (workers, workers + 2, 0):
        loader.num_workers = number
        taken += train(loader)
    say(taken)


def runs_itself_again(workers):
    """With another loader, in the same process."""
    if "AGAIN" not in os.environ:
        train(DataLoader(data(12), 4, num_workers=2))
        os.execve(sys.executable, [sys.executable, *sys.argv], dict(os.environ, AGAIN="1"))
    say(train(DataLoader(data(), 8, num_workers=workers)))


def zips(workers):
    loader = DataLoader(data(), 8, num_workers=workers)
    say(sum(2 for _ in zip(loader, loader)))


class Lookalike:
    """Mimics fastai's loader: no DataLoader, but the members that PyTorch's iterators need."""

    _auto_collation, _IterableDataset_len_called, drop_last, in_order = False, None, False, True
    _index_sampler, generator, prefetch_factor = itertools.count(), None, 2
    pin_memory, pin_memory_device, timeout, persistent_workers, worker_init_fn = False, "", 0, False, None
    multiprocessing_context = multiprocessing

    def __init__(self, workers):
        self.num_workers = workers
        self.dataset, self._dataset_kind = self, dataloader._DatasetKind.Iterable

    def collate_fn(self, batch):
        return batch

    def _get_shared_seed(self):
        return None

    def __iter__(self):
        samples = data()
        return (torch.stack([samples[i][0] for i in range(at, at + 8)]) for at in range(0, 320, 8))


def makes_iterators_itself(workers):
    single = dataloader._SingleProcessDataLoaderIter
    say(train((single if workers == 0 else dataloader._MultiProcessingDataLoaderIter)(Lookalike(workers))))


class Nested(IterableDataset):
    def __iter__(self):
        for images, _ in DataLoader(data(), 4):
            yield from images


def loads_in_a_data_set(workers):
    say(train(DataLoader(Nested(), 8, num_workers=workers), epochs=3))


class Attributes(dict):
    def __getattr__(self, name):
        return self[name]  # a KeyError where it should be an AttributeError


def gives_what_will_not_be_looked_at(workers):
    say(train(DataLoader(data(), 8, num_workers=workers,
                         collate_fn=lambda samples: Attributes(image=torch.eye(8).to_sparse()))))


def trains_in_two_threads(workers):
    counts = []
    threads = [threading.Thread(target=lambda: counts.append(train(DataLoader(data(), 8, num_workers=workers))))
               for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    say(sum(counts))


def loads_ahead_in_a_thread(workers):
    """For ever, and says at its end what it has trained with."""
    ahead, taken = queue.Queue(maxsize=3), 0

    def load():
        loader = DataLoader(data(), 8, num_workers=workers)
        while True:
            for batch in loader:
                ahead.put(batch)

    threading.Thread(target=load, daemon=True).start()
    try:
        while True:
            ahead.get()
            taken += 1
            time.sleep(0.001)
    finally:
        say(taken)


class Odd:
    """A batch sampler that says nothing of itself that can be used."""

    batch_size = [2, 4]
    sampler = None

    def __iter__(self):
        order = iter(range(320))
        return iter(lambda: list(itertools.islice(order, 8)), [])


class Buckets:
    """A batch sampler that says how many batches it gives, and no more."""

    SIZES = (4, 12, 8, 2, 14)

    def __len__(self):
        return 40

    def __iter__(self):
        order = iter(range(320))
        for size in self.SIZES * 8:
            yield list(itertools.islice(order, size))


def samples_in_buckets(workers):
    say(train(DataLoader(data(), batch_sampler=Buckets(), num_workers=workers)))


def samples_oddly(workers):
    say(train(DataLoader(data(), batch_sampler=Odd(), num_workers=workers)))


class Equal(DataLoader):
    def __eq__(self, other):
        return isinstance(other, Equal)


def has_loaders_that_are_equal(workers):
    say(train(Equal(data(), 8, num_workers=workers)))


class Expensive(IterableDataset):
    """Counts its samples by going through them, which it can do once."""

    def __init__(self):
        self.stream = iter(range(320))

    def __iter__(self):
        return iter(self.stream)

    def __len__(self):
        return sum(1 for _ in self.stream)


def has_a_length_that_costs(workers):
    batches = 0
    for _ in DataLoader(Expensive(), 8, num_workers=workers):
        time.sleep(0.001)
        batches += 1
    say(batches)


def decides_how_to_start_later(workers):
    batches = train(DataLoader(data(), 8))
    multiprocessing.set_start_method("spawn")
    say(batches)


def has_two_lists(workers):
    batches = 0
    for _ in range(3):
        batches += train(DataLoader(list(range(320)), 8, num_workers=workers))
        for _ in DataLoader(list(range(160)), 8, num_workers=workers):
            pass
    say(batches)


class Opens:
    open = io.open


def takes_python_at_its_word(workers):
    batches = train(DataLoader(data(), 8, num_workers=workers))
    assert pickle.loads(pickle.dumps(torch.Tensor.to)) == torch.Tensor.to
    assert pickle.loads(pickle.dumps(builtins.open)) is builtins.open
    with Opens().open(__file__, "rb") as file:
        assert file.read(3) == b'"""'
    try:
        from torchvision import transforms
    except ImportError:
        pass
    else:
        torch.jit.script(transforms.Normalize([0.5], [0.5]))(torch.ones(1, 2, 2))
    say(batches)


def starts_one_process_after_another(workers):
    """A trial that fails, and one that does not."""
    subprocess.run([sys.executable, __file__, "fails", str(workers)], stderr=subprocess.DEVNULL)
    subprocess.run([sys.executable, __file__, "trains", str(workers)], check=True)


class Fails(Sleeping):
    def __getitem__(self, index):
        if index == 240:
            raise ValueError("a rotten sample")
        return super().__getitem__(index)


def fails(workers):
    train(DataLoader(Fails(samples=320, seconds=0.0005), 8, num_workers=workers))


def trains(workers):
    time.sleep(1.5)
    say(train(DataLoader(data(), 8, num_workers=workers), epochs=2))


def continues_without_it(workers):
    try:
        fails(workers)
    except ValueError:
        pass
    time.sleep(4)
    say(29)


if __name__ == "__main__":
    globals()[sys.argv[1]](int(sys.argv[2]) if len(sys.argv) > 2 else 2)
