"""PyTorch's DataLoader with OpenCV and albumentations: what programs have whose Pillow was too slow."""

from typing import Any, Iterable

from loaderscope_pipelines.options import MEAN, RATIO, SCALE, STD, Options


class Images:
    """A data set of files."""

    def __init__(self, options: Options) -> None:
        import albumentations
        from albumentations.pytorch import ToTensorV2

        self._files = options.files()
        self._transform = albumentations.Compose([
            albumentations.RandomResizedCrop(size=(options.size, options.size), scale=SCALE, ratio=RATIO),
            albumentations.HorizontalFlip(),
            albumentations.Normalize(MEAN, STD),
            ToTensorV2(),
        ])

    def __len__(self) -> int:
        return len(self._files)

    def __getitem__(self, index: int) -> Any:
        import cv2

        image = cv2.cvtColor(cv2.imread(self._files[index]), cv2.COLOR_BGR2RGB)
        return self._transform(image=image)["image"]


def _one_thread(_worker: int) -> None:
    """Turns off OpenCV's threads in each worker, which would exceed the requested number of workers."""
    import cv2

    cv2.setNumThreads(0)


def make_loader(options: Options) -> Iterable[Any]:
    import torch
    from torch.utils.data import DataLoader

    torch.manual_seed(options.seed)
    return DataLoader(Images(options), options.batch_size, **options.worker_arguments(), worker_init_fn=_one_thread)
