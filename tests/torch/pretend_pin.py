"""Trains with pin_memory=True on an accelerator that is not there: PyTorch starts its pin thread, and pinning takes 1 ms
for each tensor of a batch. pretend_pin.py oddly: by a queue that is not all that PyTorch's own is."""

import sys
import time

import torch
import torch.multiprocessing
from torch.utils.data import DataLoader

from jobs import Sleeping

PINNING_S = 0.001


def pinned(tensor, *_):
    time.sleep(PINNING_S)
    return tensor.clone()


class Odd:
    """A queue whose incoming bytes cannot be seen."""

    def __init__(self, queue):
        self._odd = queue

    def __getattr__(self, name):
        if name == "_recv_bytes":
            raise AttributeError(name)
        return getattr(self._odd, name)


class OddContext(type(torch.multiprocessing.get_context("fork"))):
    def Queue(self, *sizes):
        return Odd(super().Queue(*sizes))


torch.accelerator.is_available = lambda: True
torch.accelerator.current_accelerator = lambda *_, **__: torch.device("cpu")
torch.accelerator.current_device_index = lambda: 0
torch.accelerator.set_device_index = lambda _: None
torch.Tensor.pin_memory = pinned
batches = 0
context = OddContext() if "oddly" in sys.argv else None
for _, _ in DataLoader(Sleeping(samples=480, seconds=0.001), batch_size=8, num_workers=2, pin_memory=True,
                       multiprocessing_context=context):
    time.sleep(0.01)
    batches += 1
print(batches, "batches")
