"""Windows of a time series in a memory map. No workers; an LSTM on the CPU, which takes most of the time."""
import numpy as np
import torch
import training
from torch import nn
from torch.utils.data import DataLoader, Dataset


def make(folder):
    np.save(folder / "series.npy", np.random.default_rng(0).normal(size=(20_000, 16)).cumsum(0).astype(np.float32))


class Windows(Dataset):
    def __init__(self, folder, length):
        self.series, self.length = np.load(folder / "series.npy", mmap_mode="r"), length

    def __len__(self):
        return 4096

    def __getitem__(self, index):
        window = np.array(self.series[index:index + self.length + 1])
        window = (window - window.mean(0)) / (window.std(0) + 1e-6)
        return torch.from_numpy(window[:-1]), torch.from_numpy(window[-1])


torch.set_num_threads(1)
flags = training.parse(batch_size=64)
data = Windows(training.folder(flags, make), 96)
loader = DataLoader(data, shuffle=True, drop_last=True, **training.settings(flags))
model, head = nn.LSTM(16, 48, batch_first=True), nn.Linear(48, 16)
optimizer = torch.optim.Adam([*model.parameters(), *head.parameters()])
clock = training.Clock(flags)
for epoch in range(flags.epochs):
    for inputs, targets in loader:
        optimizer.zero_grad()
        nn.functional.mse_loss(head(model(inputs)[0][:, -1]), targets).backward()
        optimizer.step()
    clock.end_epoch(len(loader) * flags.batch_size)
