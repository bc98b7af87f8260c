"""MosaicML Streaming: its shards (MDS), read in order, with Pillow and torchvision's transforms."""

from typing import Any, Iterable

from loaderscope_pipelines.options import Options
from loaderscope_pipelines.torch_pillow import transform

from peers.pipelines.made_files import changed, made, stored


def _folder(options: Options) -> str:
    def write(folder: str) -> None:
        from streaming import MDSWriter

        with MDSWriter(out=folder, columns={"image": "bytes"}) as writer:
            for path in options.files():
                writer.write({"image": stored(path)})

    return made(options, "mds", write)


def prepare(options: Options) -> None:
    _folder(options)


def make_loader(options: Options) -> Iterable[Any]:
    import torch
    from streaming import StreamingDataset
    from torch.utils.data import DataLoader

    change = transform(options)

    class Images(StreamingDataset):
        def __getitem__(self, index: int) -> Any:
            return changed(super().__getitem__(index)["image"], change)

    torch.manual_seed(options.seed)
    images = Images(local=_folder(options), shuffle=False, batch_size=options.batch_size)
    return DataLoader(images, options.batch_size, **options.worker_arguments())
