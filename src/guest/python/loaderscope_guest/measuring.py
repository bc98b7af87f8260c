"""Where measuring begins in a process: what is looked into, and from the import of which module on. Until then nothing
is loaded that a program without a loader would have to wait for."""

import sys
from types import ModuleType

from loaderscope_guest import hooks

_looks_into_stages = False


def look_into_stages() -> None:
    global _looks_into_stages
    if _looks_into_stages:
        return
    from loaderscope_guest import files, stages

    _looks_into_stages = True
    stages.install()
    files.install()


def _on_torch_loader(module: ModuleType) -> None:
    from loaderscope_guest import fetcher, gpu, iteration, torch_loader

    iteration.install_ending()
    torch_loader.install(module, begin_in_worker=begin)
    gpu.install(sys.modules["torch"])
    hooks.after_import("fastai.data.load", fetcher.install_in_fastai)
    look_into_stages()


def begin() -> None:
    """Once; more often does nothing."""
    if hooks.see_imports():
        hooks.after_import("torch.utils.data.dataloader", _on_torch_loader)
