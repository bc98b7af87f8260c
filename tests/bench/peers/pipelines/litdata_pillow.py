"""LitData: its chunks, read in order by its own loader, with Pillow and torchvision's transforms."""

from typing import Any, Iterable

from loaderscope_pipelines.options import Options
from loaderscope_pipelines.torch_pillow import transform

from peers.pipelines.made_files import changed, made, stored


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
    import torch
    from litdata import StreamingDataLoader, StreamingDataset

    change = transform(options)

    class Images(StreamingDataset):
        def __getitem__(self, index: Any) -> Any:
            return changed(super().__getitem__(index)["image"], change)

    torch.manual_seed(options.seed)
    return StreamingDataLoader(Images(_folder(options), shuffle=False), batch_size=options.batch_size,
                               **options.worker_arguments())
