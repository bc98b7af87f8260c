"""3-D volumes in .npy files: random crops, flips and a zoom in numpy and torch. One worker, a GPU step of 8 ms."""
import time

import numpy as np
import torch
import training
from torch.utils.data import DataLoader, Dataset


def make(folder):
    noise = np.random.default_rng(0)
    for number in range(40):
        np.save(folder / f"{number:03}.npy", noise.integers(-1000, 1000, (56, 56, 56), dtype=np.int16))


class Volumes(Dataset):
    def __init__(self, folder):
        self.files = sorted(folder.glob("*.npy"))

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        volume = np.load(self.files[index]).astype(np.float32)
        volume = (volume - volume.mean()) / (volume.std() + 1e-6)
        z, y, x = np.random.randint(0, 9, 3)
        crop = volume[z:z + 48, y:y + 48, x:x + 48]
        if np.random.rand() < 0.5:
            crop = crop[:, :, ::-1]
        crop = torch.from_numpy(crop.copy())[None, None]
        return torch.nn.functional.interpolate(crop, size=(40, 40, 40), mode="trilinear")[0], index % 2


flags = training.parse(num_workers=1, batch_size=4)
data = Volumes(training.folder(flags, make))
loader = DataLoader(data, shuffle=True, drop_last=True, **training.settings(flags))
clock = training.Clock(flags)
for epoch in range(flags.epochs):
    for volumes, labels in loader:
        time.sleep(0.008)  # the GPU trains
    clock.end_epoch(len(loader) * flags.batch_size)
