"""Records of which one in forty takes 80 ms, such as a file that is not cached. Two workers keep up on average."""
import time

import numpy as np
import torch
import training
from torch.utils.data import DataLoader, Dataset


def make(folder):
    np.save(folder / "records.npy", np.random.default_rng(0).normal(size=(960, 128)).astype(np.float32))


class Records(Dataset):
    def __init__(self, folder):
        self.records = np.load(folder / "records.npy")

    def __len__(self):
        return len(self.records)

    def __getitem__(self, index):
        time.sleep(0.080 if index % 40 == 0 else 0.001)  # the storage
        return torch.from_numpy(self.records[index]), index % 10


flags = training.parse(num_workers=2, batch_size=8, persistent_workers=True)
data = Records(training.folder(flags, make))
loader = DataLoader(data, shuffle=True, drop_last=True, **training.settings(flags))
clock = training.Clock(flags)
for epoch in range(flags.epochs):
    for records, labels in loader:
        time.sleep(0.016)  # the GPU trains
    clock.end_epoch(len(loader) * flags.batch_size)
