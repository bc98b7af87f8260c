"""A CSV table in pandas, one row at a time with df.iloc. No workers; a small network on the CPU."""
import numpy as np
import pandas
import torch
import training
from torch import nn
from torch.utils.data import DataLoader, Dataset


def make(folder):
    noise = np.random.default_rng(0)
    columns = {f"x{number}": noise.normal(size=6000).round(4) for number in range(20)}
    pandas.DataFrame({**columns, "label": noise.integers(0, 2, 6000)}).to_csv(folder / "table.csv", index=False)


class Table(Dataset):
    def __init__(self, folder):
        self.frame = pandas.read_csv(folder / "table.csv")

    def __len__(self):
        return len(self.frame)

    def __getitem__(self, index):
        row = self.frame.iloc[index]
        return torch.tensor(row.drop("label").to_numpy(dtype=np.float32)), torch.tensor(row["label"]).float()


torch.set_num_threads(1)
flags = training.parse(batch_size=128)
data = Table(training.folder(flags, make))
loader = DataLoader(data, shuffle=True, drop_last=True, **training.settings(flags))
model = nn.Sequential(nn.Linear(20, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 1))
optimizer = torch.optim.Adam(model.parameters())
clock = training.Clock(flags)
for epoch in range(flags.epochs):
    for inputs, labels in loader:
        optimizer.zero_grad()
        nn.functional.binary_cross_entropy_with_logits(model(inputs)[:, 0], labels).backward()
        optimizer.step()
    clock.end_epoch(len(loader) * flags.batch_size)
