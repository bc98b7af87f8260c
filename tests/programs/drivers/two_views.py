"""Contrastive learning: two strongly augmented views of each photograph. One worker, a GPU step of 60 ms."""
import time

import training
from PIL import Image
from torch.utils.data import DataLoader, Dataset
from torchvision import transforms


def make(folder):
    for number in range(128):
        training.photo(number, 320, 240).save(folder / f"{number:03}.jpg", quality=90)


class TwoViews(Dataset):
    def __init__(self, folder):
        self.files = sorted(folder.glob("*.jpg"))
        self.augment = transforms.Compose([
            transforms.RandomResizedCrop(96), transforms.RandomHorizontalFlip(),
            transforms.RandomApply([transforms.ColorJitter(0.4, 0.4, 0.4, 0.1)], p=0.8),
            transforms.RandomGrayscale(0.2), transforms.GaussianBlur(9), transforms.ToTensor()])

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        image = Image.open(self.files[index]).convert("RGB")
        return self.augment(image), self.augment(image)


flags = training.parse(num_workers=1, batch_size=16)
data = TwoViews(training.folder(flags, make))
loader = DataLoader(data, shuffle=True, drop_last=True, **training.settings(flags))
clock = training.Clock(flags)
for epoch in range(flags.epochs):
    for first, second in loader:
        time.sleep(0.060)  # the GPU trains
    clock.end_epoch(len(loader) * flags.batch_size)
