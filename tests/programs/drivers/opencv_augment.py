"""Photographs that OpenCV reads and warps, with its own threads off. One worker, a GPU step of 30 ms."""
import random
import time

import cv2
import numpy as np
import torch
import training
from torch.utils.data import DataLoader, Dataset

cv2.setNumThreads(0)


def make(folder):
    for number in range(128):
        training.photo(number, 640, 480).save(folder / f"{number:03}.jpg", quality=85)


class Photos(Dataset):
    def __init__(self, folder):
        self.files = sorted(str(file) for file in folder.glob("*.jpg"))

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        image = cv2.cvtColor(cv2.imread(self.files[index]), cv2.COLOR_BGR2RGB)
        turn = cv2.getRotationMatrix2D((320, 240), random.uniform(-15, 15), random.uniform(0.9, 1.2))
        image = cv2.warpAffine(image, turn, (640, 480), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REFLECT)
        image = cv2.GaussianBlur(cv2.resize(image, (160, 160), interpolation=cv2.INTER_AREA), (5, 5), 0)
        return torch.from_numpy(image.astype(np.float32).transpose(2, 0, 1) / 255), index % 10


flags = training.parse(num_workers=1, batch_size=16)
data = Photos(training.folder(flags, make))
loader = DataLoader(data, shuffle=True, drop_last=True, **training.settings(flags))
clock = training.Clock(flags)
for epoch in range(flags.epochs):
    for images, labels in loader:
        time.sleep(0.030)  # the GPU trains
    clock.end_epoch(len(loader) * flags.batch_size)
