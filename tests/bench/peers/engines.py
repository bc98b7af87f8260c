"""The compared engines: one row per engine."""

import dataclasses
from typing import Optional, Tuple

NATIVE = "native"


@dataclasses.dataclass(frozen=True)
class Engine:
    name: str
    what: str  # text for the report
    pipeline: str = ""  # name in peers.pipelines
    packages: Tuple[str, ...] = ()  # PyPI packages whose versions the report gives
    promise: Optional[float] = None  # least rate of native over that of the engine


ENGINES = (
    Engine(NATIVE, "loaderscope, threads"),
    Engine("torch", "PyTorch DataLoader, Pillow, torchvision", "torch:pillow",
           ("torch", "torchvision", "pillow"), 3.5),
    Engine("torch-opencv", "PyTorch DataLoader, OpenCV, albumentations", "torch:opencv",
           ("torch", "opencv-python-headless", "albumentations")),
    Engine("webdataset", "webdataset, tar shards, Pillow, torchvision", "webdataset:pillow",
           ("webdataset", "torch", "pillow")),
    Engine("streaming", "MosaicML Streaming, MDS shards, Pillow, torchvision", "streaming:pillow",
           ("mosaicml-streaming", "torch", "pillow")),
    Engine("litdata", "LitData, its chunks, Pillow, torchvision", "litdata:pillow", ("litdata", "torch", "pillow")),
    Engine("datasets", "Hugging Face datasets, Arrow, Pillow, torchvision", "datasets:pillow",
           ("datasets", "torch", "pillow")),
    Engine("dali", "DALI on the CPU", "dali:cpu", ("nvidia-dali-cuda130",), 2.3),
    Engine("dali-tar", "DALI on the CPU, its reader of tar shards", "dali:tar", ("nvidia-dali-cuda130", "webdataset")),
    Engine("spdl", "SPDL, FFmpeg, PyTorch normalises", "spdl:ffmpeg", ("spdl", "torch"), 2.3),
    Engine("ffcv", "FFCV, its own file with the same JPEG bytes", "ffcv:jpeg", ("ffcv", "numba"), 1.9),
)


def named(name: str) -> Engine:
    return next(engine for engine in ENGINES if engine.name == name)
