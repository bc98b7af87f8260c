"""The same work in other data loaders: read JPEG files, random-resized-crop, flip, normalise, f32 NCHW, batches.

Each module of LOADERS has `make_loader(options)`, which gives an iterable of batches: an iteration is an epoch, a batch
has `shape` and `nbytes`. Where the loader wants a format of its own, `prepare(options)` writes it, once. A module imports its
library within these functions only."""

import importlib
from types import ModuleType
from typing import Dict

from loaderscope_pipelines.options import Options

__all__ = ["LOADERS", "Options", "module_of"]

# Name of the loader -> its module here.
LOADERS: Dict[str, str] = {
    "torch": "torch_pillow",
    "torch-opencv": "torch_opencv",
    "webdataset": "webdataset_pillow",
    "dali": "dali_cpu",
    "spdl": "spdl_ffmpeg",
    "ffcv": "ffcv_jpeg",
}


def module_of(loader: str) -> ModuleType:
    return importlib.import_module(f"{__name__}.{LOADERS[loader]}")
