"""Photographs that scikit-image reads, resizes and rotates. No workers, a GPU step of 100 ms."""
import random
import time

import numpy as np
import skimage.io
import skimage.transform
import torch
import training
from torch.utils.data import DataLoader, Dataset


def make(folder):
    for number in range(64):
        training.photo(number, 240, 180).save(folder / f"{number:03}.png")


class Photos(Dataset):
    def __init__(self, folder):
        self.files = sorted(folder.glob("*.png"))

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        image = skimage.io.imread(self.files[index])
        image = skimage.transform.resize(image, (112, 112), anti_aliasing=True)
        image = skimage.transform.rotate(image, random.uniform(-20, 20), mode="reflect")
        return torch.from_numpy(image.astype(np.float32)).permute(2, 0, 1), index % 10


flags = training.parse(batch_size=8)
data = Photos(training.folder(flags, make))
loader = DataLoader(data, shuffle=True, drop_last=True, **training.settings(flags))
clock = training.Clock(flags)
for epoch in range(flags.epochs):
    for images, labels in loader:
        time.sleep(0.100)  # the GPU trains
    clock.end_epoch(len(loader) * flags.batch_size)
