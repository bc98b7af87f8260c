"""Samples from a storage that answers after 5 ms. Two workers, a GPU step of 25 ms."""
import time

import numpy as np
import torch
import training
from torch.utils.data import DataLoader, Dataset


def make(folder):
    np.save(folder / "rows.npy", np.random.default_rng(0).normal(size=(960, 256)).astype(np.float32))


class Remote(Dataset):
    def __init__(self, folder):
        self.rows = np.load(folder / "rows.npy", mmap_mode="r")

    def __len__(self):
        return len(self.rows)

    def fetch(self, index):
        time.sleep(0.005)  # the network
        return np.array(self.rows[index])

    def __getitem__(self, index):
        return torch.from_numpy(self.fetch(index)), index % 10


flags = training.parse(num_workers=2, batch_size=32, persistent_workers=True)
data = Remote(training.folder(flags, make))
loader = DataLoader(data, shuffle=True, drop_last=True, **training.settings(flags))
clock = training.Clock(flags)
for epoch in range(flags.epochs):
    for rows, labels in loader:
        time.sleep(0.025)  # the GPU trains
    clock.end_epoch(len(loader) * flags.batch_size)
