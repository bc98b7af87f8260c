"""Trains on a simulated GPU: reports its work to tests/tools/pretend_cupti.cpp, which LOADERSCOPE_CUPTI names.
A step copies for 1 ms, then computes for 4 and for 2 ms with a gap of 1 ms. Another thread launches the second
compute, like a backward pass. The host continues after 2 ms.

`pretend_gpu.py augments` also augments for 2 ms on the GPU, with transforms.v2, between the copy and the compute.
`pretend_gpu.py decodes` decodes there, in a call that waits for 3 ms, of which a kernel runs in the last one.
`pretend_gpu.py dali` has a thread that decodes for 1 ms and augments for 2 ms there, in ranges named like DALI's."""

import contextlib
import ctypes
import os
import sys
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


class OnGpu(torch.Tensor):
    """A tensor that says that it is on the GPU."""

    is_cuda = True


def launch(after, length):
    """Returns the end of a kernel that begins after another."""
    cupti.pretend_kernel(after, after + length)
    return after + length


def make_transform():
    from torchvision.transforms import v2

    class Launching(v2.Transform):
        end = 0  # ns; end of the last kernel

        def transform(self, image, params):
            if getattr(image, "is_cuda", False):
                Launching.end = launch(Launching.end, MS)
            return image

    return Launching, v2.Compose([Launching(), Launching()])


def augment(batch, begin):
    Launching.end = begin
    image = batch.as_subclass(OnGpu)
    assert transform(image) is image
    Launching()(batch)  # a tensor on the CPU
    return Launching.end


def make_decoder():
    """Replaces the operator of torchvision that decodes on the GPU, before the program gets it."""
    import torchvision.io.image as image

    def decode(data, mode, device):
        time.sleep(0.003)
        cupti.pretend_kernel(cupti.pretend_now() - MS, cupti.pretend_now())
        return [torch.zeros(3, 4, 4) for _ in data]

    class Operators:
        image = type("image", (), {"decode_jpegs_cuda": staticmethod(decode)})

    class Torch:
        ops = Operators

        def __getattr__(self, name):
            return getattr(torch, name)

    image.torch = Torch()
    image._assert_has_image_ops = lambda: None


def decode(begin):
    from torchvision.io import decode_jpeg

    images = decode_jpeg([torch.zeros(8, dtype=torch.uint8)] * 8, device="cuda")
    assert len(images) == 8
    return cupti.pretend_now()


def name_operators():
    """Does what the hook on the build of a pipeline of DALI does."""
    from loaderscope_guest import dali, library

    cupti.pretend_operator.argtypes = [ctypes.c_char_p] + [ctypes.c_uint64] * 2
    dali.listen(None)
    for name in ("decoders__Image", "Resize"):
        library.operator(name.encode(), library.STAGES[dali.operator_stage(name)])


def run_operators(begin):
    cupti.pretend_operator(b"[DALI][Mixed op] Run decoders__Image", begin, begin + MS)
    cupti.pretend_operator(b"[DALI][GPU op] Run Resize", begin + MS, begin + 3 * MS)
    return begin + 3 * MS


WORK = sys.argv[1] if len(sys.argv) > 1 else ""
if WORK == "augments":
    Launching, transform = make_transform()
elif WORK == "decodes":
    make_decoder()
elif WORK == "dali":
    name_operators()
    executor = ThreadPoolExecutor(1)


def produce(batch, begin):
    """Makes the batch on the GPU. Returns the time from which on it can compute."""
    if WORK == "augments":
        return augment(batch, begin)
    if WORK == "dali":
        return executor.submit(run_operators, begin).result()
    return decode(begin) if WORK == "decodes" else begin


cupti.pretend_kernel(cupti.pretend_now(), 0)  # has not ended
for step, (batch, label) in enumerate(DataLoader(Sleeping(samples=240, seconds=0.002), batch_size=8, num_workers=1)):
    now = cupti.pretend_now()
    cupti.pretend_copy(now, now + MS, 1000)
    ready = produce(batch, now + MS)
    launch(ready, 4 * MS)
    profile_from(step)
    backward.submit(launch, ready + 5 * MS, 2 * MS).result()
    time.sleep(0.002)
cupti.pretend_hold_buffer()
print("calls recorded:", cupti.pretend_recorded_calls())
print("memory of the GPU taken:", cupti.pretend_took_gpu_memory())
