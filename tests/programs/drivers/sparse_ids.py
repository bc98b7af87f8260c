"""A recommender: lists of sparse ids, which collate_fn pads in Python. No workers; embedding bags on the CPU."""
import numpy as np
import torch
import training
from torch import nn
from torch.utils.data import DataLoader, Dataset

FEATURES = 12


def make(folder):
    noise = np.random.default_rng(0)
    np.savez(folder / "ids.npz", ids=noise.integers(1, 20_000, (8192, FEATURES, 10)), kept=noise.integers(1, 11, 8192))


class Clicks(Dataset):
    def __init__(self, folder):
        stored = np.load(folder / "ids.npz")
        self.rows = [[list(map(int, ids[:kept])) for ids in row] for row, kept in zip(stored["ids"], stored["kept"])]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return {f"feature{number}": ids for number, ids in enumerate(self.rows[index])}, index % 2


def collate(samples):
    padded = {}
    for name in samples[0][0]:
        longest = max(len(row[name]) for row, _ in samples)
        padded[name] = torch.tensor([row[name] + [0] * (longest - len(row[name])) for row, _ in samples])
    return padded, torch.tensor([float(label) for _, label in samples])


torch.set_num_threads(1)
flags = training.parse(batch_size=256)
data = Clicks(training.folder(flags, make))
loader = DataLoader(data, shuffle=True, drop_last=True, collate_fn=collate, **training.settings(flags))
bag, head = nn.EmbeddingBag(20_000, 16, padding_idx=0), nn.Linear(16 * FEATURES, 1)
optimizer = torch.optim.SGD([*bag.parameters(), *head.parameters()], lr=0.1)
clock = training.Clock(flags)
for epoch in range(flags.epochs):
    for features, labels in loader:
        optimizer.zero_grad()
        joined = torch.cat([bag(ids) for ids in features.values()], dim=1)
        nn.functional.binary_cross_entropy_with_logits(head(joined)[:, 0], labels).backward()
        optimizer.step()
    clock.end_epoch(len(loader) * flags.batch_size)
