"""Trains on a simulated GPU: reports its work to tests/tools/pretend_cupti.cpp, which LOADERSCOPE_CUPTI names.
A step copies for 1 ms, then computes for 4 and for 2 ms with a gap of 1 ms. Another thread launches the second
compute, like a backward pass. The host continues after 2 ms."""

import contextlib
import ctypes
import os
import time
from concurrent.futures import ThreadPoolExecutor

cupti = ctypes.CDLL(os.environ["LOADERSCOPE_CUPTI"])
# This runs before our libraries are loaded, so that its globals are destroyed first.
ctypes.CDLL(None).__cxa_atexit(cupti.pretend_release_buffer, None, None)

import torch  # noqa: E402
from torch.utils.data import DataLoader  # noqa: E402

from jobs import Sleeping  # noqa: E402

MS = 1_000_000
cupti.pretend_now.restype = ctypes.c_uint64
cupti.pretend_kernel.argtypes = [ctypes.c_uint64] * 2
cupti.pretend_copy.argtypes = [ctypes.c_uint64] * 3
torch.cuda.is_initialized = lambda: True
backward = ThreadPoolExecutor(1)


def profile_from(step):
    """A profiler that would take over CUPTI begins in the middle; it fails here, as there is no GPU."""
    if "PROFILES" in os.environ and step == 15:
        with contextlib.suppress(TypeError):
            torch.autograd.profiler._prepare_profiler(None, {torch.profiler.ProfilerActivity.CUDA})


cupti.pretend_kernel(cupti.pretend_now(), 0)  # has not ended
for step, (batch, label) in enumerate(DataLoader(Sleeping(samples=240, seconds=0.002), batch_size=8, num_workers=1)):
    now = cupti.pretend_now()
    cupti.pretend_copy(now, now + MS, 1000)
    cupti.pretend_kernel(now + 1 * MS, now + 5 * MS)
    profile_from(step)
    backward.submit(cupti.pretend_kernel, now + 6 * MS, now + 8 * MS).result()
    time.sleep(0.002)
cupti.pretend_hold_buffer()
print("memory of the GPU taken:", cupti.pretend_took_gpu_memory())
