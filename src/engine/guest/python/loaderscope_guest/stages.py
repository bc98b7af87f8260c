"""What is looked into: which function of which module is which stage. A row whose module is never imported costs
nothing; one that this version of the module does not have is left out, and its time stays `opaque`."""

import functools
from types import ModuleType
from typing import Any, Callable, Dict, List, NamedTuple, Tuple

from loaderscope_guest import hooks, inject, library, messages
from loaderscope_guest.settings import STAGES

READ, DECOMPRESS, DECODE, AUGMENT, COLLATE = (
    STAGES[name] for name in ("read", "read.decompress", "decode", "augment", "collate")
)
NAMES = {number: name for name, number in STAGES.items()}


class Row(NamedTuple):
    module: str
    names: str  # functions or CLASS.METHOD, separated by spaces
    stage: int
    outermost: bool = False  # a part of whatever stage it is called in


TABLE: Tuple[Row, ...] = (
    Row("PIL.Image", "open", DECODE),
    Row("PIL.ImageFile", "ImageFile.load", DECODE),
    Row("PIL.Image", "Image.convert Image.draft Image.load", DECODE, outermost=True),
    Row("PIL.Image", "Image.resize Image.crop Image.transpose Image.rotate Image.transform Image.filter "
        "Image.thumbnail", AUGMENT, outermost=True),
    Row("torchvision.io.image", "read_file", READ),
    Row("torchvision.io.image", "read_image decode_image decode_jpeg decode_png decode_webp decode_gif", DECODE),
    Row("torchvision.io.video", "read_video", DECODE),
    Row("torchcodec.decoders._video_decoder", "VideoDecoder.__init__ VideoDecoder.__getitem__", DECODE),
    Row("torchaudio", "load", DECODE),
    Row("soundfile", "read", DECODE),
    Row("cv2", "imread imdecode", DECODE),
    Row("cv2", "resize warpAffine warpPerspective remap flip cvtColor GaussianBlur", AUGMENT, outermost=True),
    Row("simplejpeg", "decode_jpeg", DECODE),
    Row("turbojpeg", "TurboJPEG.decode", DECODE),
    Row("imageio.v2", "imread", DECODE),
    Row("imageio.v3", "imread", DECODE),
    Row("torchvision.transforms.transforms", "Compose.__call__", AUGMENT),
    Row("torchvision.transforms.v2._container", "Compose.forward", AUGMENT),
    Row("torchvision.transforms.functional", "to_tensor pil_to_tensor normalize resize crop center_crop resized_crop "
        "hflip vflip pad rotate affine", AUGMENT, outermost=True),
    Row("albumentations.core.composition", "Compose.__call__", AUGMENT),
    Row("kornia.augmentation.container.augment", "AugmentationSequential.forward", AUGMENT),
    Row("transformers.tokenization_utils_base", "PreTrainedTokenizerBase.__call__", AUGMENT),
    Row("tiktoken.core", "Encoding.encode Encoding.encode_ordinary", AUGMENT),
    Row("numpy", "load fromfile loadtxt genfromtxt", READ),
    Row("pyarrow.parquet", "read_table", READ),
    Row("pyarrow.parquet.core", "ParquetFile.read ParquetFile.read_row_group ParquetFile.read_row_groups", READ),
    Row("pyarrow.feather", "read_table", READ),
    Row("pandas.io.parquet", "read_parquet", READ),
    Row("datasets.arrow_dataset", "Dataset.__getitem__ Dataset.__getitems__", READ),
    Row("h5py._hl.dataset", "Dataset.__getitem__", READ),
    Row("zarr.core", "Array.__getitem__", READ),
    Row("fsspec.spec", "AbstractBufferedFile.read AbstractFileSystem.cat_file", READ),
    Row("botocore.response", "StreamingBody.read", READ),
    Row("requests.sessions", "Session.send", READ),
    Row("webdataset.gopen", "Pipe.read Pipe.readline", READ),
    Row("webdataset.autodecode", "Decoder.decode1", DECODE),
    Row("tarfile", "TarFile.next _FileInFile.read _FileInFile.readinto", READ),
    Row("zlib", "decompress", DECOMPRESS),
    Row("gzip", "decompress GzipFile.read", DECOMPRESS),
    Row("lzma", "decompress", DECOMPRESS),
    Row("bz2", "decompress", DECOMPRESS),
)


def timed(function: Callable[..., Any], stage: int, outermost: bool = False) -> Callable[..., Any]:
    """`function`, whose time is the stage's, where the calling thread makes a batch."""
    from loaderscope_guest import worker

    name = NAMES[stage]
    enter, leave, flags = library.enter, library.leave, library.flags

    @functools.wraps(function, updated=())
    def timed_function(*arguments: Any, **named: Any) -> Any:
        making = worker.making
        if making is None or not flags.timing or not making.is_here():
            return function(*arguments, **named)
        if outermost and making.depth > 0:
            return function(*arguments, **named)
        enter(stage)
        making.depth += 1
        try:
            inject.once_per_sample(name, making)
            return function(*arguments, **named)
        finally:
            making.depth -= 1
            leave(0)

    return timed_function


def _patch(module: ModuleType, row: Row) -> None:
    for name in row.names.split():
        *classes, attribute = name.split(".")
        owner: Any = module
        for part in classes:
            owner = getattr(owner, part, None)
        function = getattr(owner, "__dict__", {}).get(attribute)
        if function is None:
            continue
        try:
            setattr(owner, attribute, timed(function, row.stage, row.outermost))
        except (AttributeError, TypeError) as error:  # of a type made in C
            messages.degraded(f"{row.module}.{name} is not looked into: {error}")


def install() -> None:
    by_module: Dict[str, List[Row]] = {}
    for row in TABLE:
        by_module.setdefault(row.module, []).append(row)
    for module, rows in by_module.items():
        for row in rows:
            hooks.after_import(module, functools.partial(_patch, row=row))
