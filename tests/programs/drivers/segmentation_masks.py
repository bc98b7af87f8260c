"""Segmentation: PNG images with PNG masks, cropped and flipped together. No workers; a small U-shaped net on the CPU."""
import random

import torch
import training
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader, Dataset
from torchvision.transforms import functional as F


def make(folder):
    for number in range(64):
        image = training.photo(number, 256, 256)
        image.save(folder / f"{number:03}.png")
        image.convert("L").point(lambda value: value // 64).save(folder / f"{number:03}_mask.png")


class Masked(Dataset):
    def __init__(self, folder):
        self.masks = sorted(folder.glob("*_mask.png"))

    def __len__(self):
        return len(self.masks)

    def __getitem__(self, index):
        mask = self.masks[index]
        image, target = Image.open(mask.with_name(mask.name.replace("_mask", ""))).convert("RGB"), Image.open(mask)
        top, left = random.randint(0, 128), random.randint(0, 128)
        image, target = (F.crop(picture, top, left, 128, 128) for picture in (image, target))
        if random.random() < 0.5:
            image, target = F.hflip(image), F.hflip(target)
        return F.normalize(F.to_tensor(image), [0.5] * 3, [0.25] * 3), F.pil_to_tensor(target)[0].long()


torch.set_num_threads(1)
flags = training.parse(batch_size=8)
data = Masked(training.folder(flags, make))
loader = DataLoader(data, shuffle=True, drop_last=True, **training.settings(flags))
model = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.ReLU(), nn.Conv2d(8, 8, 3, 1, 1), nn.ReLU(),
                      nn.ConvTranspose2d(8, 4, 2, 2))
optimizer = torch.optim.Adam(model.parameters())
clock = training.Clock(flags)
for epoch in range(flags.epochs):
    for images, masks in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(images), masks).backward()
        optimizer.step()
    clock.end_epoch(len(loader) * flags.batch_size)
