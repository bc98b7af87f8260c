"""`python -m peers.drive PIPELINE SETTINGS`: takes batches from one loader in this fresh process, and prints the facts as JSON.

SETTINGS is JSON: the `options` of the pipelines, `warmup` steps, `images` to take after them, and `spawned`, the instant of
CLOCK_MONOTONIC at which this process was started."""

import json
import os
import sys
import time
from typing import Any, Dict, Iterator

from peers import pipelines, process_tree


def endless(loader: Any) -> Iterator[Any]:
    while True:
        yield from loader


def _expect(batch: Any, options: pipelines.Options) -> None:
    shape, kind = tuple(batch.shape), str(batch.dtype).rpartition(".")[2]
    if shape[1:] != (3, options.size, options.size) or kind != "float32":
        raise SystemExit(f"a batch is {kind} {shape}, not float32 NCHW")


def drive(name: str, settings: Dict[str, Any]) -> Dict[str, Any]:
    options = pipelines.Options(**settings["options"])
    batches = endless(pipelines.load_module(name).make_loader(options))
    batch = next(batches)
    first_batch = time.monotonic() - settings["spawned"]
    _expect(batch, options)
    for _ in range(settings["warmup"] - 1):
        next(batches)
    begin, cpu, images = time.monotonic(), process_tree.cpu_seconds(os.getpid()), 0
    while images < settings["images"]:
        images += next(batches).shape[0]
    return {"images": images, "wall_s": time.monotonic() - begin,
            "cpu_s": process_tree.cpu_seconds(os.getpid()) - cpu, "first_batch_s": first_batch}


def main() -> None:
    name, settings = sys.argv[1], json.loads(sys.argv[2])
    if settings.get("prepare"):
        prepare = getattr(pipelines.load_module(name), "prepare", lambda options: None)
        prepare(pipelines.Options(**settings["options"]))
    print(json.dumps(drive(name, settings)), flush=True)
    os._exit(0)  # some loaders take seconds to end their threads; the parent process ends the workers


if __name__ == "__main__":
    main()
