"""NVIDIA DALI on the CPU, as `dali:cpu`, by its reader of tar shards: those that webdataset reads, too."""

import os
import tarfile
from typing import Any, Iterable, List

from loaderscope_pipelines import dali_cpu, webdataset_pillow
from loaderscope_pipelines.options import Options


def prepare(options: Options) -> None:
    webdataset_pillow.prepare(options)


def _shards(options: Options) -> List[str]:
    folder, _ = options.made_path("shards")
    paths = sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".tar"))
    return [path for path in paths if _has_any(path)]  # DALI takes an empty shard for a damaged one


def _has_any(shard: str) -> bool:
    with tarfile.open(shard) as members:
        return members.next() is not None


def make_loader(options: Options) -> Iterable[Any]:
    from nvidia.dali import fn

    prepare(options)
    shards = _shards(options)
    return dali_cpu.Batches(options, lambda: fn.readers.webdataset(paths=shards, ext=["jpg"], name="reader",
                                                                   missing_component_behavior="error"))
