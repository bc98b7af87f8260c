"""Trains with pin_memory=True on an accelerator that is not there: PyTorch starts its pin thread, and pinning takes 1 ms
for each tensor of a batch."""

import time

import torch
from torch.utils.data import DataLoader

from jobs import Sleeping

PINNING_S = 0.001


def pinned(tensor, *_):
    time.sleep(PINNING_S)
    return tensor.clone()


torch.accelerator.is_available = lambda: True
torch.accelerator.current_accelerator = lambda *_, **__: torch.device("cpu")
torch.accelerator.current_device_index = lambda: 0
torch.accelerator.set_device_index = lambda _: None
torch.Tensor.pin_memory = pinned
batches = 0
for _, _ in DataLoader(Sleeping(samples=480, seconds=0.001), batch_size=8, num_workers=2, pin_memory=True):
    time.sleep(0.01)
    batches += 1
print(batches, "batches")
