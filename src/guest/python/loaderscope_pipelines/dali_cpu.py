"""NVIDIA DALI on the CPU: its file reader, a decoder that decodes the random crop only, and its threads."""

from typing import Any, Callable, Iterable, Iterator

from loaderscope_pipelines.options import MEAN, RATIO, SCALE, STD, Options


def _pipeline(options: Options, read: Callable[[], Any]) -> Any:
    from nvidia.dali import fn, pipeline_def, types

    @pipeline_def(batch_size=options.batch_size, num_threads=options.workers, device_id=None, seed=options.seed,
                  prefetch_queue_depth=options.prefetch)
    def images() -> Any:
        decoded = fn.decoders.image_random_crop(read(), device="cpu", output_type=types.RGB, random_area=list(SCALE),
                                                random_aspect_ratio=list(RATIO))
        resized = fn.resize(decoded, size=(options.size, options.size))
        return fn.crop_mirror_normalize(resized, dtype=types.FLOAT, output_layout="CHW", mirror=fn.random.coin_flip(),
                                        mean=[255 * value for value in MEAN], std=[255 * value for value in STD])

    return images()


class Batches:
    """Whole batches only: the one that ends an epoch is filled with the next one's samples."""

    def __init__(self, options: Options, read: Callable[[], Any]) -> None:
        """`read` gives the stored images of a reader that is called "reader"."""
        self._pipeline = _pipeline(options, read)
        self._pipeline.build()
        samples = self._pipeline.reader_meta("reader")["epoch_size"]
        self._steps = -(-samples // options.batch_size)

    def __iter__(self) -> Iterator[Any]:
        import numpy

        for _ in range(self._steps):
            images, = self._pipeline.run()
            yield numpy.asarray(images.as_tensor())  # DALI's memory, valid until the next batch is asked for


def make_loader(options: Options) -> Iterable[Any]:
    from nvidia.dali import fn

    return Batches(options, lambda: fn.readers.file(files=options.files(), name="reader")[0])
