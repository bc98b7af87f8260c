"""JSON lines, of which each sample parses one. One worker, a GPU step of 10 ms."""
import json
import random
import time

import torch
import training
from torch.utils.data import DataLoader, Dataset


def make(folder):
    with open(folder / "events.jsonl", "w", encoding="utf-8") as file:
        for number in range(2560):
            events = [{"t": step, "kind": random.randint(0, 50), "value": random.random()} for step in range(60)]
            file.write(json.dumps({"id": number, "label": number % 2, "events": events}) + "\n")


class Lines(Dataset):
    def __init__(self, folder):
        self.path, self.offsets = folder / "events.jsonl", [0]
        with open(self.path, "rb") as file:
            for line in file:
                self.offsets.append(self.offsets[-1] + len(line))

    def __len__(self):
        return len(self.offsets) - 1

    def __getitem__(self, index):
        with open(self.path, "rb") as file:
            file.seek(self.offsets[index])
            row = json.loads(file.readline())
        kinds = torch.tensor([event["kind"] for event in row["events"]])
        values = torch.tensor([event["value"] for event in row["events"]])
        return kinds, values, row["label"]


torch.set_num_threads(1)
flags = training.parse(num_workers=1, batch_size=128)
data = Lines(training.folder(flags, make))
loader = DataLoader(data, shuffle=True, drop_last=True, **training.settings(flags))
clock = training.Clock(flags)
for epoch in range(flags.epochs):
    for kinds, values, labels in loader:
        time.sleep(0.010)  # the GPU trains
    clock.end_epoch(len(loader) * flags.batch_size)
