"""Training programs as people write them, each a function: jobs.py NAME [WORKERS]. The first line that each prints
is what it measured itself, as JSON."""

import json
import os
import signal
import sys
import time

import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset


class Sleeping(Dataset):
    """Samples that take `seconds` each."""

    def __init__(self, samples=400, seconds=0.004):
        self.samples, self.seconds = samples, seconds

    def __len__(self):
        return self.samples

    def __getitem__(self, index):
        time.sleep(self.seconds)
        return torch.full((3, 8, 8), index, dtype=torch.float32), index


def timed(loader, epochs=1, most=None, step=0.0):
    """Takes everything, and says how fast from the sixth batch on: as loaderscope measures it."""
    samples, begun, taken = 0, None, 0
    for _ in range(epochs):
        for batch in loader:
            time.sleep(step)
            taken += 1
            ended = time.monotonic()  # and not when the workers of the last epoch have ended
            if begun is not None:
                samples += len(batch[1])
            if taken == 5:
                begun = ended
            if taken == most:
                break
    print(json.dumps({"samples_per_s": samples / (ended - begun)}), flush=True)


def plain(workers):
    timed(DataLoader(Sleeping(), batch_size=8, num_workers=workers))


def plain_forever(workers):
    """Trains until it is stopped, then cleans up."""
    loader = DataLoader(Sleeping(), batch_size=8, num_workers=workers)
    try:
        while True:
            for _ in loader:
                pass
    finally:
        print("cleaned up", flush=True)


def make_loader():
    return DataLoader(Sleeping(seconds=0.002), batch_size=8, num_workers=2)


class Photos(Dataset):
    """The JPEG files of the folder JOB_IMAGES: read, decoded and resized with Pillow."""

    def __init__(self):
        folder = os.environ["JOB_IMAGES"]
        self.paths = sorted(os.path.join(place, name) for place, _, names in os.walk(folder) for name in names
                            if name.endswith(".jpg"))

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        from PIL import Image

        with open(self.paths[index % len(self.paths)], "rb") as file:
            image = Image.open(file).convert("RGB")
        return torch.frombuffer(bytearray(image.resize((8, 8)).tobytes()), dtype=torch.uint8), index


def make_photo_loader():
    return DataLoader(Photos(), batch_size=4, num_workers=1, prefetch_factor=1)


def slow_collate(samples):
    time.sleep(0.032)
    return torch.utils.data.default_collate(samples)


def sleeps(workers):
    """4 ms in each of 8 samples, 32 ms in collate."""
    timed(DataLoader(Sleeping(samples=320), batch_size=8, num_workers=workers, collate_fn=slow_collate))


class Shapes(Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        return {"x": torch.zeros(index % 7 + 1), "nested": (index, [str(index), {"y": 1.5}]), "name": "n" * index}


class Stream(IterableDataset):
    def __iter__(self):
        info = torch.utils.data.get_worker_info()
        first, step = (info.id, info.num_workers) if info else (0, 1)
        for index in range(first, 64, step):
            yield {"x": torch.zeros(4), "index": index}


def shapes(workers):
    """Dicts, tuples, strings, variable shapes, streams, two epochs, and another loader, all in one process."""
    kinds = {
        "persistent": DataLoader(Sleeping(64, 0.001), batch_size=4, num_workers=workers,
                                 persistent_workers=workers > 0),
        "dicts": DataLoader(Shapes(), batch_size=8, num_workers=workers, collate_fn=list),
        "stream": DataLoader(Stream(), batch_size=4, num_workers=workers),
        "single": DataLoader(Shapes(), batch_size=None, num_workers=workers),
    }
    kind = os.environ["JOB_KIND"]
    loader = kinds.pop(kind)
    other = DataLoader(Sleeping(16, 0.001), batch_size=4, num_workers=0)
    seen = []
    for _ in range(2):
        for batch in loader:
            seen.append(batch)
        for batch in other:
            time.sleep(0.001)
    print(json.dumps({"batches": len(seen)}), flush=True)


def spawned(workers):
    timed(DataLoader(Sleeping(), batch_size=8, num_workers=workers, multiprocessing_context="spawn"))


class Bad(Sleeping):
    def __getitem__(self, index):
        if index == 60:
            raise ValueError("sample 60 is rotten")
        return super().__getitem__(index)


def raises(workers):
    timed(DataLoader(Bad(), batch_size=8, num_workers=workers))


class Killed(Sleeping):
    def __getitem__(self, index):
        if index == 60:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().__getitem__(index)


def killed(workers):
    timed(DataLoader(Killed(), batch_size=8, num_workers=workers))


class Silent(Sleeping):
    def __getitem__(self, index):
        time.sleep(3600)


def silent(workers):
    timed(DataLoader(Silent(), batch_size=8, num_workers=workers))


def exits_early(workers):
    for number, _ in enumerate(DataLoader(Sleeping(), batch_size=8, num_workers=workers)):
        if number == 30:
            sys.exit(0)


def stubborn(workers):
    """Catches each interrupt, and trains again."""
    signal.signal(signal.SIGINT, lambda *_: None)
    print("begun", flush=True)
    while True:
        try:
            for _ in DataLoader(Sleeping(), batch_size=8, num_workers=workers):
                pass
        except BaseException:
            time.sleep(0.1)


def forks(workers):
    """Forks on its own while it trains; the child also imports and sleeps, and outlives it."""
    for number, _ in enumerate(DataLoader(Sleeping(), batch_size=8, num_workers=workers)):
        if number == 10 and os.fork() == 0:
            time.sleep(20)
            os._exit(0)


def no_loader(workers):
    print(torch.zeros(3).sum().item())


def trains_without_a_loader(workers):
    for _ in range(45):
        time.sleep(0.5)
    print("went on to its end", flush=True)


if __name__ == "__main__":
    globals()[sys.argv[1]](int(sys.argv[2]) if len(sys.argv) > 2 else 2)
