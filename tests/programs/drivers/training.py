"""Flags, data folder and clock that the training programs of this folder share."""

import argparse
import pathlib
import random
import shutil
import sys
import time
from typing import Any, Callable, Dict

import numpy as np
from PIL import Image


def parse(**defaults: Any) -> argparse.Namespace:
    """The settings of a DataLoader as flags, with the program's own defaults."""
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=pathlib.Path, help="A folder; the program makes its data there if it is missing.")
    parser.add_argument("--num-workers", type=int, default=0)
    parser.add_argument("--prefetch-factor", type=int)
    parser.add_argument("--persistent-workers", action=argparse.BooleanOptionalAction, default=False)
    parser.add_argument("--pin-memory", action=argparse.BooleanOptionalAction, default=False)
    parser.add_argument("--in-order", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--epochs", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=float, help="Print the rate after this time, and end.")
    parser.add_argument("--prepare", action="store_true", help="Make the data and end.")
    parser.set_defaults(**defaults)
    return parser.parse_args()


def settings(flags: argparse.Namespace) -> Dict[str, Any]:
    """Arguments of a DataLoader. Without workers it refuses those that need some."""
    chosen = {"batch_size": flags.batch_size, "num_workers": flags.num_workers, "pin_memory": flags.pin_memory}
    if flags.num_workers:
        chosen.update(in_order=flags.in_order, prefetch_factor=flags.prefetch_factor, persistent_workers=flags.persistent_workers)
    return chosen


def folder(flags: argparse.Namespace, make: Callable[[pathlib.Path], None]) -> pathlib.Path:
    """The data, made once. A run that was interrupted leaves nothing that looks complete."""
    if not flags.data.exists():
        unfinished = flags.data.with_name(flags.data.name + ".unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(parents=True)
        random.seed(0)
        make(unfinished)
        unfinished.rename(flags.data)
    if flags.prepare:
        sys.exit()
    return flags.data


def photo(seed: int, width: int, height: int) -> Image.Image:
    """A picture with large and small structure, which JPEG and PNG compress about as much as a photograph."""
    noise = np.random.default_rng(seed)
    coarse = Image.fromarray(noise.integers(0, 256, (8, 8, 3), dtype=np.uint8)).resize((width, height), Image.BICUBIC)
    fine = noise.normal(0, 6, (height, width, 1))
    return Image.fromarray(np.clip(np.asarray(coarse) + fine, 0, 255).astype(np.uint8))


class Clock:
    """Counts whole epochs after the first one, and ends the program after --seconds."""

    def __init__(self, flags: argparse.Namespace) -> None:
        self._seconds, self._samples, self._begin = flags.seconds, 0, 0.0

    def end_epoch(self, samples: int) -> None:
        now = time.perf_counter()
        if not self._begin:
            self._begin = now
            return
        self._samples += samples
        if self._seconds and now - self._begin >= self._seconds:
            print(f"rate {self._samples / (now - self._begin):.2f} samples/s")
            sys.exit()
