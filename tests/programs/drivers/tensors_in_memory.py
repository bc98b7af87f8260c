"""A TensorDataset in memory with four workers, which only send what is there. A linear model on the CPU."""
import numpy as np
import torch
import training
from torch.utils.data import DataLoader, TensorDataset


def make(folder):
    np.save(folder / "inputs.npy", np.random.default_rng(0).normal(size=(32_000, 64)).astype(np.float32))


torch.set_num_threads(1)
flags = training.parse(num_workers=4, batch_size=64, persistent_workers=True)
inputs = torch.from_numpy(np.load(training.folder(flags, make) / "inputs.npy"))
data = TensorDataset(inputs, torch.arange(len(inputs)) % 10)
loader = DataLoader(data, shuffle=True, drop_last=True, **training.settings(flags))
model = torch.nn.Linear(64, 10)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
clock = training.Clock(flags)
for epoch in range(flags.epochs):
    for batch, labels in loader:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(batch), labels).backward()
        optimizer.step()
    clock.end_epoch(len(loader) * flags.batch_size)
