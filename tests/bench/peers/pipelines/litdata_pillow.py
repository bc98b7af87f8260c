"""LitData: its chunks, read in order by its own loader, with Pillow and torchvision's transforms."""

from typing import Any, Iterable

from loaderscope_pipelines.options import Options
from loaderscope_pipelines.torch_pillow import transform

from peers.pipelines.made_files import made, stored


def _folder(options: Options) -> str:
    def write(folder: str) -> None:
        from litdata.streaming.writer import BinaryWriter

        writer = BinaryWriter(folder, chunk_bytes="64MB")
        for number, path in enumerate(options.files()):
            writer[number] = {"image": stored(path)}
        writer.done()
        writer.merge()

    return made(options, "litdata", write)


def prepare(options: Options) -> None:
    _folder(options)


def make_loader(options: Options) -> Iterable[Any]:
    import io

    import torch
    from litdata import StreamingDataLoader, StreamingDataset
    from PIL import Image

    change = transform(options)

    class Images(StreamingDataset):
        def __getitem__(self, index: Any) -> Any:
            with Image.open(io.BytesIO(super().__getitem__(index)["image"])) as image:
                return change(image.convert("RGB"))

    torch.manual_seed(options.seed)
    return StreamingDataLoader(Images(_folder(options), shuffle=False), batch_size=options.batch_size,
                               **options.of_workers())
