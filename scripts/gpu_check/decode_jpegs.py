"""Decodes JPEG files on the GPU as users of torchvision do: decode_jpegs.py MANIFEST [--read]. Prints one JSON.

The files are in memory before, or are read again for each batch with --read.
"""
import argparse
import csv
import json
import time

import torch
import torchvision

FILES_MOST = 2048


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("manifest")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--read", action="store_true")
    options = parser.parse_args()
    with open(options.manifest, newline="") as file:
        paths = [row["path"] for _, row in zip(range(FILES_MOST), csv.DictReader(file))]
    paths = paths[:len(paths) // options.batch * options.batch]
    stored = [torchvision.io.read_file(path) for path in paths]
    first = torchvision.io.decode_jpeg(stored[:options.batch], mode=torchvision.io.ImageReadMode.RGB, device="cuda")
    torch.cuda.synchronize()
    images, begin = 0, 0
    wall, cpu = time.monotonic(), time.process_time()
    while time.monotonic() - wall < options.seconds:
        chosen = slice(begin, begin + options.batch)
        batch = [torchvision.io.read_file(path) for path in paths[chosen]] if options.read else stored[chosen]
        torchvision.io.decode_jpeg(batch, mode=torchvision.io.ImageReadMode.RGB, device="cuda")
        images += len(batch)
        begin = (begin + options.batch) % len(paths)
    torch.cuda.synchronize()
    wall, cpu = time.monotonic() - wall, time.process_time() - cpu
    print(json.dumps({"images": images, "wall_s": wall, "cpu_s": cpu, "shape": list(first[0].shape),
                      "device": str(first[0].device)}))


if __name__ == "__main__":
    main()
