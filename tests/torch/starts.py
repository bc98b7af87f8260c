"""Jobs with much work before the first batch that is trained with: starts.py JOB [WORKERS]."""

import sys
import time

import torch
from torch.utils.data import DataLoader, Dataset


class Sleeping(Dataset):
    def __len__(self):
        return 1600

    def __getitem__(self, index):
        time.sleep(0.002)
        return torch.full((16,), float(index))


class WithNames(Sleeping):
    """Two million short strings, which a worker that is spawned is handed one by one."""

    def __init__(self):
        self.names = [f"images/{number:07}.jpg" for number in range(2_000_000)]


def train(loader, skip=0, steps=40):
    model = torch.nn.Linear(16, 1)
    optimizer = torch.optim.SGD(model.parameters(), 1e-9)
    taken = 0
    for number, batch in enumerate(loader):
        if number < skip:
            continue
        optimizer.zero_grad()
        model(batch).sum().backward()
        optimizer.step()
        time.sleep(0.01)
        taken += 1
        if taken == steps:
            break
    print(f"trained {taken}", flush=True)


def resumed(workers):
    train(DataLoader(Sleeping(), batch_size=8, num_workers=workers), skip=120)


def spawned(workers):
    train(DataLoader(WithNames(), batch_size=8, num_workers=workers, multiprocessing_context="spawn"))


if __name__ == "__main__":
    globals()[sys.argv[1]](int(sys.argv[2]))
