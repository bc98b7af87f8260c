"""webdataset: tar shards, read in order by the workers of a DataLoader, with Pillow and torchvision's transforms. A folder
of shards is read as it is; of JPEG files shards are made."""

import os
from typing import Any, Iterable, List

from loaderscope_pipelines.options import Options
from loaderscope_pipelines.torch_pillow import transform

_LEAST_SHARDS = 8  # so that a few workers all have some
_MOST_BYTES = 4 << 30  # bytes of JPEG files to make shards of


def _shards(folder: str) -> List[str]:
    return [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if name.endswith(".tar")]


def _write(options: Options, files: List[str], folder: str) -> None:
    import webdataset

    os.makedirs(folder)
    shards = max(_LEAST_SHARDS, options.workers)
    for shard in range(shards):
        with webdataset.TarWriter(os.path.join(folder, f"{shard:05d}.tar")) as writer:
            for index in range(shard, len(files), shards):
                with open(files[index], "rb") as file:
                    writer.write({"__key__": f"{index:08d}", "jpg": file.read()})


def prepare(options: Options) -> None:
    if _shards(options.folder):
        return
    folder, there = options.made_path("shards")
    if there:
        return
    files = options.files()
    if sum(os.path.getsize(file) for file in files) > _MOST_BYTES:
        raise OSError(f"{options.folder}: has no .tar shards, and too many images to copy them into some (give a folder of shards)")
    unfinished = f"{folder}.{os.getpid()}"
    _write(options, files, unfinished)
    os.rename(unfinished, folder)


def make_loader(options: Options) -> Iterable[Any]:
    import torch
    import webdataset

    prepare(options)
    torch.manual_seed(options.seed)
    shards = _shards(options.folder) or _shards(options.made_path("shards")[0])
    samples = (webdataset.WebDataset(shards, shardshuffle=False, empty_check=False)
               .decode("pil")
               .to_tuple("jpg;jpeg")
               .map_tuple(transform(options)))
    return webdataset.WebLoader(samples, batch_size=options.batch_size, collate_fn=_stack, **options.worker_arguments())


def _stack(samples: List[Any]) -> Any:
    import torch

    return torch.stack([image for image, in samples])
