"""PyTorch's DataLoader with Pillow and torchvision's transforms: what most programs have."""

from typing import Any, Iterable

from loaderscope_pipelines.options import MEAN, RATIO, SCALE, STD, Options


def transform(options: Options) -> Any:
    """Returns the transform of a PIL image."""
    from torchvision import transforms

    return transforms.Compose([
        transforms.RandomResizedCrop(options.size, SCALE, RATIO),
        transforms.RandomHorizontalFlip(),
        transforms.ToTensor(),
        transforms.Normalize(MEAN, STD),
    ])


class Images:
    """A data set of files."""

    def __init__(self, options: Options) -> None:
        self._files = options.files()
        self._transform = transform(options)

    def __len__(self) -> int:
        return len(self._files)

    def __getitem__(self, index: int) -> Any:
        from PIL import Image

        with Image.open(self._files[index]) as image:
            return self._transform(image.convert("RGB"))


def make_loader(options: Options) -> Iterable[Any]:
    import torch
    from torch.utils.data import DataLoader

    torch.manual_seed(options.seed)
    return DataLoader(Images(options), options.batch_size, **options.worker_arguments())
