"""Begin of measuring in a process: the hooks, and the modules whose import installs them. Before such an import,
nothing is loaded that would delay a program without a loader."""

import functools
import sys
from types import ModuleType

from loaderscope_guest import import_hooks, interpreter
from loaderscope_guest.third_party_table import TABLE, Row

# Packages of `stage_table` that a program may import before any loader. A test compares the two.
EARLY = ("PIL", "audiomentations", "av", "botocore", "cv2", "decord", "fsspec", "h5py", "httpx", "imageio", "lerobot",
         "lmdb", "lz4", "monai", "numcodecs", "numpy", "pandas", "pyarrow", "requests", "simplejpeg", "soundfile",
         "tiktoken", "tokenizers", "torch_geometric", "torchio", "transformers", "turbojpeg", "urllib3", "webdataset", "zarr",
         "zstandard")

_looks_into_functions = False
_looks_into_stages = False
_looks_into_torch = False


def look_into_functions() -> None:
    """Times the functions of `stage_table`. The program must get what times a function, and never the function itself: of
    the two pickle accepts only the one that the module has. So this comes before a module of other people is imported."""
    global _looks_into_functions
    if _looks_into_functions:
        return
    from loaderscope_guest import stages

    _looks_into_functions = True
    stages.install()


def look_into_stages() -> None:
    global _looks_into_stages
    if _looks_into_stages:
        return
    from loaderscope_guest import files, huggingface, requests_made, traffic

    _looks_into_stages = True
    traffic.install()
    requests_made.install()
    look_into_functions()
    files.install()
    import_hooks.after_import("datasets.formatting.formatting", huggingface.install)
    import_hooks.after_import("datasets.arrow_dataset", huggingface.install_counts)


def look_into_torch() -> None:
    """Hooks into the parts of a training loop besides taking batches."""
    global _looks_into_torch
    if _looks_into_torch:
        return
    from loaderscope_guest import device_copies, dynamo, iteration, wrappers

    _looks_into_torch = True
    iteration.install_ending()
    device_copies.install(sys.modules["torch"])
    dynamo.install()
    wrappers.install()
    look_into_stages()


def _on_early(module: ModuleType) -> None:
    look_into_functions()


def _on_torch_loader(module: ModuleType) -> None:
    from loaderscope_guest import fastai_loader, torch_loader

    torch_loader.install(module, begin_in_worker=begin)
    look_into_torch()
    import_hooks.after_import("fastai.data.load", fastai_loader.install)


def _on_stateful_loader(module: ModuleType) -> None:
    from loaderscope_guest import stateful

    stateful.install(module)


def _on_foreign_loader(module: ModuleType, row: Row) -> None:
    from loaderscope_guest import third_party_loaders

    third_party_loaders.install(module, row)


def _on_dali(module: ModuleType) -> None:
    from loaderscope_guest import dali

    dali.listen(module)


def _on_dali_pipeline(module: ModuleType) -> None:
    from loaderscope_guest import dali

    dali.install(module)


def _on_ray_data(module: ModuleType) -> None:
    from loaderscope_guest import ray_data

    ray_data.install(module)


def _on_optimizer(module: ModuleType) -> None:
    from loaderscope_guest import steps

    steps.install(module, look_into_torch)


def _on_profiler(module: ModuleType) -> None:
    from loaderscope_guest import gpu

    gpu.install_giving_way(module)


def begin() -> None:
    """Installs the import hooks. Later calls do nothing. A Python that cannot be measured runs unchanged."""
    reason = interpreter.why_not()
    if reason:
        from loaderscope_guest import settings

        settings.leave_word("program", reason)
    if reason or not interpreter.is_main() or not import_hooks.see_imports():
        return
    import_hooks.after_import("torch.utils.data.dataloader", _on_torch_loader)
    import_hooks.after_import("torchdata.stateful_dataloader.stateful_dataloader", _on_stateful_loader)
    import_hooks.after_import("torch.optim.optimizer", _on_optimizer)
    import_hooks.after_import("torch.autograd.profiler", _on_profiler)
    import_hooks.after_import("nvidia.dali.backend_impl", _on_dali)
    import_hooks.after_import("nvidia.dali.pipeline", _on_dali_pipeline)
    import_hooks.after_import("ray.data._internal.block_batching.iter_batches", _on_ray_data)
    for name in EARLY:
        import_hooks.after_import(name, _on_early)
    for row in TABLE:
        import_hooks.after_import(row.module, functools.partial(_on_foreign_loader, row=row))
