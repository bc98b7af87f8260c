"""Trains on the GPU that pretend_gpu.py has, and forks: pretend_gpu_forks.py worker: a worker begins a profiler of the GPU;
child: a process of the program's own takes batches and ends."""

import contextlib
import ctypes
import os
import sys
import time

import torch
from torch.utils.data import DataLoader, Dataset

cupti = ctypes.CDLL(os.environ["LOADERSCOPE_CUPTI"])
torch.cuda.is_initialized = lambda: True


class Profiling(Dataset):
    """One that does so in the middle, in a worker; it fails there, as there is no GPU."""

    def __len__(self):
        return 96

    def __getitem__(self, index):
        if index == 41 and torch.utils.data.get_worker_info() is not None:
            with contextlib.suppress(TypeError):
                torch.autograd.profiler._prepare_profiler(None, {torch.profiler.ProfilerActivity.CUDA})
        return torch.zeros(4)


def train(workers):
    batches = 0
    for _ in DataLoader(Profiling(), batch_size=4, num_workers=workers):
        time.sleep(0.002)
        batches += 1
    return batches


print("parent", train(0))  # loaderscope watches its GPU from here on
if sys.argv[1] == "worker":
    print("with a worker", train(1))
elif os.fork() == 0:
    print("child", train(0), flush=True)
    sys.exit(0)
else:
    print("ended with", os.wait()[1])
