"""profiled.py FILE: 24 steps under torch.profiler, which writes FILE and says how long it waited."""
import json
import sys
import time

import torch
from torch.profiler import ProfilerActivity, profile
from torch.utils.data import DataLoader, Dataset


class Slow(Dataset):
    def __len__(self):
        return 96

    def __getitem__(self, index):
        time.sleep(0.005)
        return torch.zeros(8)


def main():
    layer = torch.nn.Linear(8, 8)
    with profile(activities=[ProfilerActivity.CPU]) as profiler:
        batches = iter(DataLoader(Slow(), batch_size=4, num_workers=1))
        for _ in range(24):
            layer(next(batches))
            time.sleep(0.01)
    profiler.export_chrome_trace(sys.argv[1])
    waited = sum(event.cpu_time_total for event in profiler.key_averages() if "DataLoader" in event.key)
    print(json.dumps({"waited_s": waited / 1e6}))


main()
