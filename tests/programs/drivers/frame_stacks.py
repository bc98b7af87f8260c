"""Clips of 16 raw frames, as a video model takes them: large batches that two workers send. A GPU step of 15 ms."""
import time

import numpy as np
import torch
import training
from torch.utils.data import DataLoader, Dataset


def make(folder):
    np.save(folder / "frames.npy", np.random.default_rng(0).integers(0, 256, (320, 112, 112, 3), dtype=np.uint8))


class Clips(Dataset):
    def __init__(self, folder):
        self.frames = np.load(folder / "frames.npy", mmap_mode="r")

    def __len__(self):
        return 128

    def __getitem__(self, index):
        start = index * 2
        clip = torch.from_numpy(np.array(self.frames[start:start + 16])).permute(3, 0, 1, 2)
        return clip.float().div(127.5).sub(1), index % 10


torch.set_num_threads(1)
flags = training.parse(num_workers=2, batch_size=8)
data = Clips(training.folder(flags, make))
loader = DataLoader(data, shuffle=True, drop_last=True, **training.settings(flags))
clock = training.Clock(flags)
for epoch in range(flags.epochs):
    for clips, labels in loader:
        time.sleep(0.015)  # the GPU trains
    clock.end_epoch(len(loader) * flags.batch_size)
