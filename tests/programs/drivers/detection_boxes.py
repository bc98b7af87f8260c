"""Object detection: photographs with a variable number of boxes, which a batch keeps as lists. No workers."""
import json
import random
import time

import torch
import training
from PIL import Image
from torch.utils.data import DataLoader, Dataset
from torchvision import tv_tensors
from torchvision.transforms import v2


def make(folder):
    boxes = {}
    for number in range(96):
        training.photo(number, 400, 300).save(folder / f"{number:03}.jpg", quality=85)
        corners = [(random.randint(0, 300), random.randint(0, 200)) for _ in range(random.randint(1, 20))]
        boxes[f"{number:03}.jpg"] = [[x, y, x + 60, y + 60] for x, y in corners]
    (folder / "boxes.json").write_text(json.dumps(boxes), encoding="utf-8")


class Boxes(Dataset):
    def __init__(self, folder):
        self.folder, self.boxes = folder, json.loads((folder / "boxes.json").read_text(encoding="utf-8"))
        self.names = sorted(self.boxes)
        self.transform = v2.Compose([v2.ToImage(), v2.RandomHorizontalFlip(), v2.ScaleJitter((256, 256), (0.8, 1.2)),
                                     v2.ToDtype(torch.float32, scale=True)])

    def __len__(self):
        return len(self.names)

    def __getitem__(self, index):
        name = self.names[index]
        image = Image.open(self.folder / name).convert("RGB")
        boxes = tv_tensors.BoundingBoxes(self.boxes[name], format="XYXY", canvas_size=(300, 400))
        image, boxes = self.transform(image, boxes)
        return image, {"boxes": boxes, "labels": torch.ones(len(boxes), dtype=torch.int64)}


flags = training.parse(batch_size=8)
data = Boxes(training.folder(flags, make))
loader = DataLoader(data, shuffle=True, drop_last=True, collate_fn=lambda samples: tuple(zip(*samples)),
                    **training.settings(flags))
clock = training.Clock(flags)
for epoch in range(flags.epochs):
    for images, targets in loader:
        time.sleep(0.060)  # the GPU trains
    clock.end_epoch(len(loader) * flags.batch_size)
