"""The pipelines that are compared: those that loaderscope brings, and here those that nothing but the comparison uses."""

import importlib
from types import ModuleType

import loaderscope_pipelines
from loaderscope_pipelines import Options

__all__ = ["Options", "load_module"]

_OWN = ("spdl:ffmpeg", "ffcv:jpeg", "streaming:pillow", "litdata:pillow", "datasets:pillow", "dali:tar")


def load_module(pipeline: str) -> ModuleType:
    if pipeline in _OWN:
        return importlib.import_module(f"{__name__}.{pipeline.replace(':', '_')}")
    return loaderscope_pipelines.pipeline_module(pipeline)
