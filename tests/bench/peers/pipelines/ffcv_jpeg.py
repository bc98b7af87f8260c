"""FFCV: its own file, filled with the very bytes of the JPEG files, and its compiled pipeline."""

import os
from typing import Any, Callable, Iterable, Iterator, Tuple

from loaderscope_pipelines.options import MEAN, RATIO, SCALE, STD, Options


class Images:
    """The stored bytes of each file, and its size in pixels."""

    def __init__(self, options: Options) -> None:
        self._files = options.files()

    def __len__(self) -> int:
        return len(self._files)

    def __getitem__(self, index: int) -> Tuple[Any]:
        import numpy
        from PIL import Image

        with Image.open(self._files[index]) as image:
            width, height = image.size
        return ((numpy.fromfile(self._files[index], numpy.uint8), width, height),)


def _stored_field() -> Any:
    from ffcv.fields import RGBImageField
    from ffcv.fields.rgb_image import IMAGE_MODES

    class StoredJpeg(RGBImageField):
        """FFCV's own field would decode each image and encode it again."""

        def encode(self, destination: Any, image: Any, malloc: Any) -> None:
            stored, destination["width"], destination["height"] = image
            destination["mode"] = IMAGE_MODES["jpg"]
            destination["data_ptr"], place = malloc(stored.nbytes)
            place[:] = stored

    return StoredJpeg()


def _normalise_to_planes(size: int) -> Any:
    """FFCV's own operations write the normalised batch once, and once more to change its layout."""
    import dataclasses

    import numpy
    from ffcv.pipeline.allocation_query import AllocationQuery
    from ffcv.pipeline.compiler import Compiler
    from ffcv.pipeline.operation import Operation

    factor = numpy.array([1 / (255 * std) for std in STD], numpy.float32)
    offset = numpy.array([-mean / std for mean, std in zip(MEAN, STD)], numpy.float32)
    shape, kind = (3, size, size), numpy.dtype(numpy.float32)

    class NormaliseToPlanes(Operation):
        def generate_code(self) -> Callable[..., Any]:
            indices = Compiler.get_iterator()

            def normalise(images: Any, result: Any) -> Any:
                for i in indices(images.shape[0]):
                    for channel in range(3):
                        result[i, channel] = images[i, :, :, channel] * factor[channel] + offset[channel]
                return result[:images.shape[0]]

            normalise.is_parallel = True  # type: ignore[attr-defined]
            return normalise

        def declare_state_and_memory(self, previous_state: Any) -> Tuple[Any, Any]:
            state = dataclasses.replace(previous_state, jit_mode=True, shape=shape, dtype=kind)
            return state, AllocationQuery(shape, kind)

    return NormaliseToPlanes()


def prepare(options: Options) -> None:
    from ffcv.writer import DatasetWriter

    path, there = options.made_path("ffcv")
    if there:
        return
    os.makedirs(options.made, exist_ok=True)
    unfinished = f"{path}.{os.getpid()}"
    DatasetWriter(unfinished, {"image": _stored_field()}, num_workers=1).from_indexed_dataset(Images(options))
    os.rename(unfinished, path)


class Batches:
    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def __iter__(self) -> Iterator[Any]:
        for images, in self._loader:
            yield images


def make_loader(options: Options) -> Iterable[Any]:
    from ffcv.fields import RGBImageField
    from ffcv.fields.rgb_image import RandomResizedCropRGBImageDecoder
    from ffcv.loader import Loader, OrderOption
    from ffcv.transforms import RandomHorizontalFlip, ToTensor

    prepare(options)
    path, _ = options.made_path("ffcv")
    steps = [
        RandomResizedCropRGBImageDecoder((options.size, options.size), SCALE, RATIO),
        RandomHorizontalFlip(),
        _normalise_to_planes(options.size),
        ToTensor(),
    ]
    return Batches(Loader(path, options.batch_size, num_workers=options.workers, order=OrderOption.SEQUENTIAL,
                          os_cache=True, drop_last=False, seed=options.seed, pipelines={"image": steps},
                          custom_fields={"image": RGBImageField}))
