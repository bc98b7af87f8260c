"""What is looked into: which function of which module is which stage. A row whose module is never imported costs
nothing; one that this version of the module does not have is left out, and its time stays `opaque`."""

import ctypes
import functools
import gc
import sys
from types import ModuleType
from typing import Any, Callable, Dict, List, NamedTuple, Tuple

from loaderscope_guest import hooks, inject, library, making, messages, user_code
from loaderscope_guest.library import STAGES

READ, DECOMPRESS, DECODE, AUGMENT, COLLATE = (
    STAGES[name] for name in ("read", "read.decompress", "decode", "augment", "collate")
)
NAMES = {number: name for name, number in STAGES.items()}


class Row(NamedTuple):
    module: str
    names: str  # functions or CLASS.METHOD, separated by spaces
    stage: int
    outermost: bool = False  # a part of whatever stage it is called in
    entries: bool = False  # a Compose: what it calls is told apart, by name
    called: str = ""  # a part of the stage, which no delay is injected into; "": by its module and name


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
    Row("torchvision.transforms.transforms", "Compose.__call__", AUGMENT, entries=True),
    Row("torchvision.transforms.v2._container", "Compose.forward", AUGMENT, entries=True),
    Row("torchvision.transforms.functional", "to_tensor pil_to_tensor normalize resize crop center_crop resized_crop "
        "hflip vflip pad rotate affine", AUGMENT, outermost=True),
    Row("albumentations.core.composition", "Compose.__call__", AUGMENT, entries=True),
    Row("kornia.augmentation.container.augment", "AugmentationSequential.forward", AUGMENT),
    Row("transformers.tokenization_utils_base", "PreTrainedTokenizerBase.__call__", AUGMENT),
    Row("tokenizers", "Tokenizer.encode Tokenizer.encode_batch", AUGMENT, outermost=True),
    Row("tiktoken.core", "Encoding.encode Encoding.encode_ordinary", AUGMENT),
    Row("numpy", "load fromfile loadtxt genfromtxt", READ),
    Row("pyarrow.parquet", "read_table", READ),
    Row("pyarrow.parquet.core", "ParquetFile.read ParquetFile.read_row_group ParquetFile.read_row_groups", READ),
    Row("pyarrow.feather", "read_table", READ),
    Row("pyarrow.lib", "NativeFile.read NativeFile.read_at NativeFile.readall NativeFile.read_buffer "
        "_RecordBatchFileReader.read_all _RecordBatchFileReader.get_batch RecordBatchReader.read_all "
        "RecordBatchReader.read_next_batch", READ, outermost=True),
    Row("pyarrow.lib", "_Tabular.to_pydict _Tabular.to_pylist Table.to_pydict Table.to_pylist", DECODE, outermost=True),
    Row("pyarrow._dataset", "Dataset.to_table Dataset.take Dataset.head Scanner.to_table Scanner.take", READ),
    Row("pandas.io.parquet", "read_parquet", READ),
    Row("datasets.arrow_dataset", "Dataset.__getitem__ Dataset.__getitems__", READ),
    Row("h5py._hl.dataset", "Dataset.__getitem__", READ),
    Row("zarr.core", "Array.__getitem__", READ),
    Row("fsspec.spec", "AbstractBufferedFile.read AbstractFileSystem.cat_file", READ),
    Row("botocore.response", "StreamingBody.read", READ),
    Row("requests.sessions", "Session.send", READ),
    Row("webdataset.gopen", "Pipe.read Pipe.readline", READ),
    Row("webdataset.autodecode", "Decoder.decode1", DECODE),
    Row("torch.storage", "_StorageBase._new_shared", COLLATE, called="making shared memory for the batch"),
    Row("fastai.data.load", "fa_collate fa_convert", COLLATE, outermost=True),
    Row("tarfile", "TarFile.next _FileInFile.read _FileInFile.readinto", READ),
    Row("zlib", "decompress", DECOMPRESS),
    Row("gzip", "decompress GzipFile.read", DECOMPRESS),
    Row("lzma", "decompress", DECOMPRESS),
    Row("bz2", "decompress", DECOMPRESS),
)


def _set_in_c_type(owner: type, attribute: str, function: Callable[..., Any]) -> None:
    """setattr refuses a type that is made in C; its dictionary, which CPython looks methods up in, does not."""
    (names,) = gc.get_referents(vars(owner))
    names[attribute] = function
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(owner))  # CPython forgets what it has looked up


def _set(owner: Any, attribute: str, function: Callable[..., Any]) -> None:
    try:
        setattr(owner, attribute, function)
    except TypeError:
        if not isinstance(owner, type) or sys.implementation.name != "cpython":
            raise
        _set_in_c_type(owner, attribute, function)


def _looking_at_entries(compose: Callable[..., Any]) -> Callable[..., Any]:
    def looking(*arguments: Any, **named: Any) -> Any:
        with user_code.entries_timed(arguments[0]):
            return compose(*arguments, **named)

    return looking


def _inject(stage: str) -> None:
    inject.once_per_sample(stage, making.current)


def timed(function: Callable[..., Any], stage: int, outermost: bool = False, called: str = "",
          entries: bool = False, has_name: bool = True, injects: bool = True) -> Callable[..., Any]:
    """`function`, whose time is the stage's, where the calling thread makes a batch. It is known as `called`. Called
    in the stage itself it is part of the span that runs: small calls of one stage within another cost little."""
    name = NAMES[stage]
    is_method = hasattr(type(function), "__get__")
    before = functools.partial(_inject, name) if inject.ANY and injects else None
    instead = _looking_at_entries(function) if entries else None
    own = library.timed(function, stage, outermost, has_name, is_method, before, instead)
    if called:
        user_code.spending.watch(name, called, own)
    return own


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
            called = "" if row.entries else row.called or f"{row.module}.{name}"
            wrap = functools.partial(timed, stage=row.stage, outermost=row.outermost, called=called, entries=row.entries,
                                     injects=not row.called)
            is_bound_otherwise = isinstance(function, (classmethod, staticmethod))
            _set(owner, attribute, type(function)(wrap(function.__func__)) if is_bound_otherwise else wrap(function))
        except (AttributeError, TypeError, ValueError) as error:  # a type that does not let itself be changed
            messages.degraded(f"{row.module}.{name} is not looked into: {error}")


def install() -> None:
    by_module: Dict[str, List[Row]] = {}
    for row in TABLE:
        by_module.setdefault(row.module, []).append(row)
    for module, rows in by_module.items():
        for row in rows:
            hooks.after_import(module, functools.partial(_patch, row=row))
