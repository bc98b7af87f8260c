"""Images with captions: JPEG files, and a vocabulary in Python. Three workers; a CPU step with one thread."""
import json
import random

import torch
import training
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader, Dataset
from torchvision import transforms

WORDS = ["a", "red", "blue", "dog", "cat", "house", "on", "in", "the", "grass", "street", "with", "two", "small", "large"]


def make(folder):
    for number in range(160):
        training.photo(number, 320, 240).save(folder / f"{number:03}.jpg", quality=85)
    captions = {f"{number:03}.jpg": " ".join(random.choices(WORDS, k=random.randint(5, 20))) for number in range(160)}
    (folder / "captions.json").write_text(json.dumps(captions), encoding="utf-8")


class Captioned(Dataset):
    def __init__(self, folder):
        self.folder, self.rows = folder, sorted(json.loads((folder / "captions.json").read_text()).items())
        self.transform = transforms.Compose([transforms.Resize(144), transforms.RandomCrop(128), transforms.ToTensor()])
        self.ids = {word: number + 1 for number, word in enumerate(WORDS)}

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        name, caption = self.rows[index]
        ids = [self.ids[word] for word in caption.split()]
        return self.transform(Image.open(self.folder / name).convert("RGB")), torch.tensor(ids + [0] * (20 - len(ids)))


torch.set_num_threads(1)
flags = training.parse(num_workers=3, batch_size=16)
data = Captioned(training.folder(flags, make))
loader = DataLoader(data, shuffle=True, drop_last=True, **training.settings(flags))
sight = nn.Sequential(nn.Conv2d(3, 16, 7, 4), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(256, 32))
words = nn.EmbeddingBag(len(WORDS) + 1, 32, padding_idx=0)
optimizer = torch.optim.Adam([*sight.parameters(), *words.parameters()])
clock = training.Clock(flags)
for epoch in range(flags.epochs):
    for images, captions in loader:
        optimizer.zero_grad()
        alike = sight(images) @ words(captions).t()
        nn.functional.cross_entropy(alike, torch.arange(len(images))).backward()
        optimizer.step()
    clock.end_epoch(len(loader) * flags.batch_size)
