"""sampled.py SECONDS: trains for so long and says which share of it a DataLoader's next took."""
import json
import sys
import time

import torch
from torch.utils.data import DataLoader, Dataset


class Slow(Dataset):
    def __len__(self):
        return 1_000_000

    def __getitem__(self, index):
        time.sleep(0.005)
        return torch.zeros(8)


def spin(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


def main():
    batches = iter(DataLoader(Slow(), batch_size=8, num_workers=1))
    next(batches)
    begin, waited = time.perf_counter(), 0.0
    while time.perf_counter() - begin < float(sys.argv[1]):
        asked = time.perf_counter()
        next(batches)
        waited += time.perf_counter() - asked
        spin(0.02)
    print(json.dumps({"waited": waited / (time.perf_counter() - begin)}))


main()
