"""Programs that use of PyTorch what we use too: its hooks, modes, kinds of tensors, threads, its compiler, and what ends a
worker. own_hooks.py NAME [WORKERS]. Each asserts that nothing of its own has changed, and says how many batches it has
trained with."""

import os
import signal
import sys
import threading

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook
from torch.overrides import TorchFunctionMode
from torch.utils.data import DataLoader, Dataset

from odd_jobs import data, say, train


def image_batches(workers):
    for images, _ in DataLoader(data(), 8, num_workers=workers):
        yield images


def has_optimizer_hooks(workers):
    """Mimics tools that count the memory of a job."""
    steps, taken = [], 0
    register_optimizer_step_post_hook(lambda *of_step: steps.append(1))
    layer = torch.nn.Linear(8, 1)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    for images in image_batches(workers):
        layer(images).sum().backward()
        optimizer.step()
        taken += 1
    assert len(steps) == taken
    say(taken)


def copies_in_threads(workers):
    sys.setswitchinterval(1e-5)
    taken = []

    def copy():
        for images in image_batches(workers):
            for _ in range(20):
                images.to("meta", non_blocking=True)
            taken.append(1)

    threads = [threading.Thread(target=copy) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    say(len(taken))


class Kind(torch.Tensor):
    pass


def compiles(workers):
    """Whole functions: what cannot go into the graph raises."""

    def whole(function):
        return torch.compile(function, backend="eager", fullgraph=True)

    taken = 0
    for images in image_batches(workers):
        if taken == 0:
            torch.set_default_device("cpu")  # a mode
            whole(lambda x: x.to(torch.float64) + 1)(images)
            whole(lambda x: torch.empty(8).copy_(x + 1))(images[0, 0, 0])
            torch.set_default_device(None)
            whole(lambda x: x.to(torch.float64))(images.as_subclass(Kind))
        taken += 1
    say(taken)


class Strict(torch.Tensor):
    """Refuses functions that it does not know, such as reading its device."""

    asked = []

    @classmethod
    def __torch_function__(cls, function, types, arguments=(), named=None):
        cls.asked.append(function.__name__)
        if function.__name__ == "__get__":
            raise NotImplementedError(f"no {function}")
        with torch._C.DisableTorchFunctionSubclass():
            return function(*arguments, **(named or {}))


class Counts(TorchFunctionMode):
    calls = 0

    def __torch_function__(self, function, types, arguments=(), named=None):
        Counts.calls += 1
        return function(*arguments, **(named or {}))


def sees_all_calls(workers):
    taken = 0
    for images in image_batches(workers):
        images.as_subclass(Strict).to("meta")
        with Counts():
            images.to("meta")
        taken += 1
    assert set(Strict.asked) == {"to"}, Strict.asked
    assert Counts.calls == taken, Counts.calls
    say(taken)


def has_a_broken_gpu(workers):
    def broken():
        raise RuntimeError("CUDA is in a bad state")

    torch.cuda.is_initialized = broken
    say(train(DataLoader(data(), 8, num_workers=workers)))


class Hashed(Dataset):
    def __len__(self):
        return 320

    def __getitem__(self, key):
        return torch.full((8,), key % 7)


def has_keys_of_any_size(workers):
    say(train(DataLoader(Hashed(), 8, sampler=[(1 << 70) + number for number in range(320)], num_workers=workers)))


class Killed(Dataset):
    def __len__(self):
        return 320

    def __getitem__(self, index):
        if index == 300:
            os.kill(os.getpid(), signal.SIGRTMIN + 3)
        return data()[index]


def handles_a_dead_worker(workers):
    taken = 0
    try:
        for _ in DataLoader(Killed(), 8, num_workers=workers):
            taken += 1
    except (RuntimeError, ConnectionError, EOFError):  # PyTorch's error, or that of the worker's connection
        say(train(DataLoader(data(), 8)))


if __name__ == "__main__":
    globals()[sys.argv[1]](int(sys.argv[2]))
