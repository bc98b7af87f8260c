"""Medical images through a chain of MONAI's transforms, one of which is much slower than the others. One worker."""
import time

import numpy as np
import torch
import training
from monai.data import DataLoader, Dataset
from monai.transforms import (Compose, EnsureChannelFirstd, LoadImaged, Rand3DElasticd, RandFlipd, RandGaussianNoised,
                              ScaleIntensityd, ToTensord)


def make(folder):
    noise = np.random.default_rng(0)
    for number in range(48):
        np.save(folder / f"{number:03}.npy", noise.normal(size=(32, 32, 32)).astype(np.float32))


torch.set_num_threads(1)
flags = training.parse(num_workers=1, batch_size=4)
files = [{"image": str(file), "label": number % 2} for number, file in
         enumerate(sorted(training.folder(flags, make).glob("*.npy")))]
chain = Compose([
    LoadImaged("image"), EnsureChannelFirstd("image", channel_dim="no_channel"), ScaleIntensityd("image"),
    RandFlipd("image", prob=0.5), RandGaussianNoised("image", prob=0.5),
    Rand3DElasticd("image", sigma_range=(3, 5), magnitude_range=(20, 50), prob=1.0), ToTensord("image")])
loader = DataLoader(Dataset(files, chain), shuffle=True, drop_last=True, **training.settings(flags))
clock = training.Clock(flags)
for epoch in range(flags.epochs):
    for batch in loader:
        batch["image"].mean()
        time.sleep(0.030)  # the GPU trains
    clock.end_epoch(len(loader) * flags.batch_size)
