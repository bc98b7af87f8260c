"""Metric learning: each sample is an anchor, a positive and a negative photograph. Two workers, a GPU step of 10 ms."""
import random
import time

import torch
import training
from PIL import Image
from torch.utils.data import DataLoader, Dataset
from torchvision import transforms


def make(folder):
    for number in range(120):
        training.photo(number, 480, 360).save(folder / f"{number % 10}_{number:03}.jpg", quality=85)


class Triplets(Dataset):
    def __init__(self, folder):
        self.files = sorted(folder.glob("*.jpg"))
        self.transform = transforms.Compose([transforms.RandomResizedCrop(128), transforms.ToTensor()])

    def __len__(self):
        return 2 * len(self.files)

    def load(self, file):
        return self.transform(Image.open(file).convert("RGB"))

    def __getitem__(self, index):
        anchor = self.files[index % len(self.files)]
        same = [file for file in self.files if file.name[0] == anchor.name[0] and file != anchor]
        other = [file for file in self.files if file.name[0] != anchor.name[0]]
        return self.load(anchor), self.load(random.choice(same)), self.load(random.choice(other))


flags = training.parse(num_workers=2, batch_size=16)
data = Triplets(training.folder(flags, make))
loader = DataLoader(data, shuffle=True, drop_last=True, **training.settings(flags))
loss = torch.nn.TripletMarginLoss()
clock = training.Clock(flags)
for epoch in range(flags.epochs):
    for anchors, positives, negatives in loader:
        loss(*(images.mean(dim=(2, 3)) for images in (anchors, positives, negatives)))
        time.sleep(0.010)  # the GPU trains
    clock.end_epoch(len(loader) * flags.batch_size)
