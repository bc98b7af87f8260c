"""The same work in other data loaders: read JPEG files, random-resized-crop, flip, normalise, f32 NCHW, batches.

The pipeline LOADER:KIND is the module LOADER_KIND. Each has `make_loader(options)`, which gives an iterable of batches: an
iteration is an epoch, a batch has `shape` and `nbytes`. Where the loader wants a format of its own, `prepare(options)` writes it,
once. A module imports its library within these functions only."""

import importlib
from types import ModuleType

from loaderscope_pipelines.options import Options

__all__ = ["Options", "pipeline_module"]


def pipeline_module(pipeline: str) -> ModuleType:
    return importlib.import_module(f"{__name__}.{pipeline.replace(':', '_')}")
