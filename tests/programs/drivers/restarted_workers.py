"""Short epochs whose two workers open a large index each time they start. A GPU step of 5 ms."""
import json
import time

import numpy as np
import torch
import training
from torch.utils.data import DataLoader, Dataset, get_worker_info


def make(folder):
    np.save(folder / "features.npy", np.random.default_rng(0).normal(size=(640, 512)).astype(np.float32))
    index = {f"item-{number}": number % 640 for number in range(60_000)}
    (folder / "index.json").write_text(json.dumps(index), encoding="utf-8")


def open_index(_):
    data = get_worker_info().dataset
    data.index = json.loads((data.folder / "index.json").read_text(encoding="utf-8"))


class Features(Dataset):
    def __init__(self, folder):
        self.folder, self.features, self.index = folder, np.load(folder / "features.npy"), None

    def __len__(self):
        return 640

    def __getitem__(self, index):
        if self.index is None:
            self.index = json.loads((self.folder / "index.json").read_text(encoding="utf-8"))
        return torch.from_numpy(self.features[self.index[f"item-{index}"]]), index % 10


flags = training.parse(num_workers=2, batch_size=16)
data = Features(training.folder(flags, make))
loader = DataLoader(data, shuffle=True, drop_last=True, worker_init_fn=open_index, **training.settings(flags))
clock = training.Clock(flags)
for epoch in range(flags.epochs):
    for features, labels in loader:
        time.sleep(0.005)  # the GPU trains
    clock.end_epoch(len(loader) * flags.batch_size)
