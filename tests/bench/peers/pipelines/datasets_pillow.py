"""Hugging Face's datasets: Arrow files of save_to_disk(), with Pillow and torchvision's transforms."""

from typing import Any, Dict, Iterable, List

from loaderscope_pipelines.options import Options
from loaderscope_pipelines.torch_pillow import transform

from peers.pipelines.made_files import made, stored


def _folder(options: Options) -> str:
    def write(folder: str) -> None:
        import datasets

        rows = {"image": [{"bytes": stored(path), "path": None} for path in options.files()]}
        features = datasets.Features({"image": datasets.Image()})
        datasets.Dataset.from_dict(rows, features=features).save_to_disk(folder)

    return made(options, "arrow", write)


def prepare(options: Options) -> None:
    _folder(options)


def make_loader(options: Options) -> Iterable[Any]:
    import datasets
    import torch
    from torch.utils.data import DataLoader

    change = transform(options)

    def changed(rows: Dict[str, List[Any]]) -> Dict[str, List[Any]]:
        return {"image": [change(image.convert("RGB")) for image in rows["image"]]}

    torch.manual_seed(options.seed)
    images = datasets.load_from_disk(_folder(options)).with_transform(changed)
    return DataLoader(images, options.batch_size, collate_fn=_stack, **options.worker_arguments())


def _stack(rows: List[Dict[str, Any]]) -> Any:
    import torch

    return torch.stack([row["image"] for row in rows])
