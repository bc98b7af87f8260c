#!/usr/bin/env python3
"""Slowdown of programs by loaderscope, in clock time and in CPU time of the program itself. Fresh processes
with and without loaderscope alternate.

    tests/bench/overhead_bench.py build/release/loaderscope                   # all programs, 5 pairs of each
    tests/bench/overhead_bench.py build/release/loaderscope --programs pillow,iterators --pairs 20

--python: one with PyTorch and Pillow, as scripts/python-env makes it. Times are of the program's loop: what it imports is not in it."""

import argparse
import io
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

OUTPUT = "OVERHEAD_BENCH_OUTPUT"  # the file that a program writes its times to


def zeros(count: int):
    import torch

    return torch.utils.data.TensorDataset(torch.zeros(count, 8), torch.zeros(count))


def photos(count: int):
    import numpy
    from PIL import Image
    from torchvision import transforms

    noise = numpy.random.default_rng(0).integers(0, 255, (30, 40, 3), numpy.uint8)
    written = io.BytesIO()
    Image.fromarray(noise).resize((500, 375)).save(written, "JPEG", quality=90)
    change = transforms.Compose([transforms.Resize(256), transforms.CenterCrop(224), transforms.ToTensor()])

    class Photos:
        def __len__(self):
            return count

        def __getitem__(self, index):
            return change(Image.open(io.BytesIO(written.getvalue())).convert("RGB")), index

    return Photos()


def epochs(loader, count: int, step: float = 0) -> int:
    batches = 0
    for _ in range(count):
        for _ in loader:
            batches += 1
            if step:
                time.sleep(step)
    return batches


def steps_of_20_ms() -> int:
    from torch.utils.data import DataLoader

    return epochs(DataLoader(zeros(32_000), 64, num_workers=1), 1, 0.02)


def small_batches() -> int:
    """Batches of 0.2 ms, without workers."""
    from torch.utils.data import DataLoader

    return epochs(DataLoader(zeros(64_000), 64), 15)


def pillow() -> int:
    from torch.utils.data import DataLoader

    return epochs(DataLoader(photos(1000), 16), 1)


def short_epochs() -> int:
    """Epochs of ten steps, whose workers restart."""
    from torch.utils.data import DataLoader

    return epochs(DataLoader(photos(160), 16, num_workers=2), 8, 0.02)


def iterators() -> int:
    """An iterator for each step."""
    from torch.utils.data import DataLoader

    loader = DataLoader(zeros(1000), 16, shuffle=True)
    for _ in range(10_000):
        next(iter(loader))
    return 10_000


def token_lists() -> int:
    """Batches of 77,000 numbers, in lists."""
    from torch.utils.data import DataLoader

    rows = [[list(range(100)) for _ in range(3)] for _ in range(256)]
    return epochs(DataLoader(range(256 * 1000), 256, collate_fn=lambda samples: list(rows)), 1)


PROGRAMS = {program.__name__: program for program in (steps_of_20_ms, small_batches, pillow, short_epochs, iterators, token_lists)}


def spent() -> float:
    return sum(usage.ru_utime + usage.ru_stime
               for usage in (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)))


def run_program(name: str) -> None:
    import torch

    torch.set_num_threads(1)
    import torch.utils.data  # noqa: F401 what is imported is not measured

    begun, cpu = time.monotonic(), spent()
    batches = PROGRAMS[name]()
    measured = {"clock": (time.monotonic() - begun) / batches, "cpu": (spent() - cpu) / batches}
    with open(os.environ[OUTPUT], "w") as file:
        json.dump(measured, file)


def run_for_times(command: list) -> dict:
    with tempfile.NamedTemporaryFile() as output:
        done = subprocess.run(command, env={**os.environ, OUTPUT: output.name}, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(command)} ended with {done.returncode}: {done.stderr[-2000:]}")
        return json.load(output)


def compare(binary: str, python: str, name: str, pairs: int) -> None:
    plain = [python, os.path.abspath(__file__), "--program", name]
    watched = [binary, "run", "--no-hook-cost", "--", *plain]
    ratios: dict = {"clock": [], "cpu": []}
    alone = []
    for pair in range(pairs):
        order = (plain, watched) if pair % 2 == 0 else (watched, plain)
        times = {id(command): run_for_times(command) for command in order}
        alone.append(times[id(plain)]["cpu"])
        for kind, values in ratios.items():
            values.append(100 * (times[id(watched)][kind] / times[id(plain)][kind] - 1))
    shown = "   ".join(f"{statistics.median(values):+6.1f} % ({min(values):+.1f} to {max(values):+.1f})" for values in ratios.values())
    print(f"{name:16} {1e6 * statistics.median(alone):10.0f} us   {shown}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", nargs="?")
    parser.add_argument("--python", default=os.environ.get("LOADERSCOPE_PYTHON", sys.executable))
    parser.add_argument("--programs", default=",".join(PROGRAMS))
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--program", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.program:
        return run_program(given.program)
    if not given.binary:
        parser.error("the program is missing: build/release/loaderscope")
    print("program          CPU of a batch   more time by the clock      more CPU time (median, least to most)")
    for name in given.programs.split(","):
        compare(os.path.abspath(given.binary), given.python, name, given.pairs)


if __name__ == "__main__":
    main()
