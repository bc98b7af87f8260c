"""Epochs of ten batches of photographs: two workers start again in each of them. A GPU step of 20 ms."""
import time

import training
from PIL import Image
from torch.utils.data import DataLoader, Dataset
from torchvision import transforms


def make(folder):
    for number in range(160):
        training.photo(number, 400, 300).save(folder / f"{number:03}.jpg", quality=85)


class Photos(Dataset):
    def __init__(self, folder):
        self.files = sorted(folder.glob("*.jpg"))
        self.transform = transforms.Compose([transforms.Resize(160), transforms.CenterCrop(128), transforms.ToTensor()])

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        return self.transform(Image.open(self.files[index]).convert("RGB")), index % 10


flags = training.parse(num_workers=2, batch_size=16)
data = Photos(training.folder(flags, make))
loader = DataLoader(data, shuffle=True, drop_last=True, **training.settings(flags))
clock = training.Clock(flags)
for epoch in range(flags.epochs):
    for images, labels in loader:
        time.sleep(0.020)  # the GPU trains
    clock.end_epoch(len(loader) * flags.batch_size)
