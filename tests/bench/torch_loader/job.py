"""DataLoaders of known cost, and a training loop that says how fast it was, and what CPU time of its process a sample
took: job.py LOADER WORKERS BATCHES."""

import json
import os
import sys
import time

import torch
from declared import BATCH, MS
from torch.utils.data import DataLoader, Dataset

WARMUP = 5  # default of loaderscope


class Sleep:
    """Sleeps exactly, on average: each one makes up for what the one before took longer."""

    def __init__(self, ms):
        self.seconds, self.late = ms / 1e3, 0.0

    def __call__(self, value):
        begun = time.monotonic()
        time.sleep(max(0.0, self.seconds - self.late))
        self.late += time.monotonic() - begun - self.seconds
        return value


class Declared(Dataset):
    """A sleep in __getitem__, and one in a Compose."""

    def __init__(self, samples):
        from torchvision.transforms import Compose

        self.samples, self.own, self.transform = samples, Sleep(MS["opaque"]), Compose([Sleep(MS["augment"])])

    def __len__(self):
        return self.samples

    def __getitem__(self, index):
        self.own(None)
        return self.transform(torch.zeros(3, 32, 32)), index


class Photos(Dataset):
    """The JPEG files of the folder BENCH_IMAGES, read, decoded and brought to one size by Pillow."""

    def __init__(self, samples):
        self.samples = samples
        self.paths = sorted(os.path.join(place, name) for place, _, names in os.walk(os.environ["BENCH_IMAGES"])
                            for name in names if name.endswith(".jpg"))

    def __len__(self):
        return self.samples

    def __getitem__(self, index):
        from PIL import Image

        with open(self.paths[index % len(self.paths)], "rb") as file:
            image = Image.open(file).convert("RGB").resize((224, 224))
        return torch.frombuffer(bytearray(image.tobytes()), dtype=torch.uint8).view(224, 224, 3), index


_collating = Sleep(MS["collate"])


def slow_collate(samples):
    _collating(None)
    return torch.utils.data.default_collate(samples)


def declared(workers=2, batches=1 << 16):
    torch.set_num_threads(1)
    return DataLoader(Declared(BATCH * batches), batch_size=BATCH, num_workers=workers, collate_fn=slow_collate)


def photos(workers=2, batches=1 << 16):
    torch.set_num_threads(1)
    return DataLoader(Photos(BATCH * batches), batch_size=BATCH, num_workers=workers)


def main():
    loader = {"declared": declared, "photos": photos}[sys.argv[1]](int(sys.argv[2]), int(sys.argv[3]))
    begun = ended = cpu = taken = 0
    for taken, _ in enumerate(loader, 1):
        ended = time.monotonic()
        if taken == WARMUP:
            begun, cpu = ended, time.process_time()
    samples = (taken - WARMUP) * BATCH
    print(json.dumps({"samples_per_s": samples / (ended - begun), "cpu_s": (time.process_time() - cpu) / samples}),
          flush=True)


if __name__ == "__main__":
    main()
