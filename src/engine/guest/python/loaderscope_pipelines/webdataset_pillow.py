"""webdataset: tar shards, read in order by the workers of a DataLoader, with Pillow and torchvision's transforms."""

import os
from typing import Any, Iterable, List

from loaderscope_pipelines.options import Options
from loaderscope_pipelines.torch_pillow import transform

_LEAST_SHARDS = 8  # so that a few workers all have some


def _shards(folder: str) -> List[str]:
    return [os.path.join(folder, name) for name in sorted(os.listdir(folder))]


def prepare(options: Options) -> None:
    import webdataset

    folder, there = options.made_path("shards")
    if there:
        return
    unfinished = f"{folder}.{os.getpid()}"
    os.makedirs(unfinished)
    files = options.files()
    shards = max(_LEAST_SHARDS, options.workers)
    for shard in range(shards):
        with webdataset.TarWriter(os.path.join(unfinished, f"{shard:05d}.tar")) as writer:
            for index in range(shard, len(files), shards):
                with open(files[index], "rb") as file:
                    writer.write({"__key__": f"{index:08d}", "jpg": file.read()})
    os.rename(unfinished, folder)


def make_loader(options: Options) -> Iterable[Any]:
    import torch
    import webdataset

    prepare(options)
    torch.manual_seed(options.seed)
    folder, _ = options.made_path("shards")
    samples = (webdataset.WebDataset(_shards(folder), shardshuffle=False)
               .decode("pil")
               .to_tuple("jpg")
               .map_tuple(transform(options))
               .batched(options.batch_size, collation_fn=_stack))
    return webdataset.WebLoader(samples, batch_size=None, num_workers=options.workers,
                                persistent_workers=options.workers > 0)


def _stack(samples: List[Any]) -> Any:
    import torch

    return torch.stack([image for image, in samples])
