"""SPDL: FFmpeg decodes, crops, scales and flips on SPDL's threads; PyTorch normalises the batch on the same threads."""

import random
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Iterable, Iterator, List, Tuple

from loaderscope_pipelines.options import MEAN, RATIO, SCALE, STD, Options


def random_crop(width: int, height: int, draw: random.Random) -> Tuple[int, int, int, int]:
    """Width, height, left and top, by the rules of torchvision."""
    for _ in range(10):
        area = width * height * draw.uniform(*SCALE)
        ratio = RATIO[0] * (RATIO[1] / RATIO[0]) ** draw.random()
        w, h = round((area * ratio) ** 0.5), round((area / ratio) ** 0.5)
        if 0 < w <= width and 0 < h <= height:
            return w, h, draw.randint(0, width - w), draw.randint(0, height - h)
    w = min(width, round(height * RATIO[1]))
    h = min(height, round(width / RATIO[0]))
    return w, h, (width - w) // 2, (height - h) // 2


class Batches:
    def __init__(self, options: Options) -> None:
        import torch

        torch.set_num_threads(1)  # limit in each of SPDL's threads
        self._options = options
        files = options.files()
        self._lists = [files[at:at + options.batch_size] for at in range(0, len(files), options.batch_size)]
        self._draw = random.Random(options.seed)
        self._executor = ThreadPoolExecutor(options.workers)
        self._factor = torch.tensor([1 / (255 * std) for std in STD]).view(1, 3, 1, 1)
        self._offset = torch.tensor([-mean / std for mean, std in zip(MEAN, STD)]).view(1, 3, 1, 1)

    def _frame(self, file: str) -> Any:
        import spdl.io

        packets = spdl.io.demux_image(file)
        w, h, left, top = random_crop(packets.width, packets.height, self._draw)
        flip = ",hflip" if self._draw.random() < 0.5 else ""
        size = self._options.size
        filters = f"crop={w}:{h}:{left}:{top},scale={size}:{size}:flags=bilinear,format=pix_fmts=rgb24{flip}"
        return spdl.io.decode_packets(packets, filter_desc=filters)

    def _batch(self, files: List[str]) -> Any:
        import spdl.io
        import torch

        images = spdl.io.to_torch(spdl.io.convert_frames([self._frame(file) for file in files]))
        floats = images.permute(0, 3, 1, 2).to(torch.float32, memory_format=torch.contiguous_format)
        return floats.mul_(self._factor).add_(self._offset)

    def __iter__(self) -> Iterator[Any]:
        from spdl.pipeline import PipelineBuilder

        pipeline = (PipelineBuilder()
                    .add_source(self._lists)
                    .pipe(self._batch, executor=self._executor, concurrency=self._options.workers)
                    .add_sink(2)
                    .build(num_threads=1))
        with pipeline.auto_stop():
            yield from pipeline


def make_loader(options: Options) -> Iterable[Any]:
    return Batches(options)
