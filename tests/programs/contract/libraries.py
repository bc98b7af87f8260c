"""Functions of libraries that loaderscope times, in and outside of batches."""

import bz2
import gzip
import inspect
import io
import lzma
import tarfile
import tempfile
import zlib

import numpy
import torch
from PIL import Image, ImageOps, UnidentifiedImageError
from torch.utils.data import DataLoader, Dataset

NEEDS = "torch numpy PIL"
_PACKED = {name: module.compress(b"abc" * 50) for name, module in (("zlib", zlib), ("gzip", gzip), ("lzma", lzma), ("bz2", bz2))}
_MODULES = {"zlib": zlib, "gzip": gzip, "lzma": lzma, "bz2": bz2}


class _Calls(Dataset):
    """Gives what a call comes to, or how it fails, as text."""

    def __init__(self, *calls):
        self.calls = calls

    def __len__(self):
        return len(self.calls)

    def __getitem__(self, index):
        try:
            return repr(self.calls[index]())
        except Exception as error:
            return f"{type(error).__module__}.{type(error).__name__}: {error}"


def _everywhere(*calls):
    """Outside of a batch, in the trainer, and in a worker."""
    samples = _Calls(*calls)
    outside = [samples[index] for index in range(len(calls))]
    return [outside == [text for (text,) in DataLoader(samples, 1, num_workers=workers)] for workers in (0, 1)], outside


def _png():
    file = io.BytesIO()
    Image.new("RGB", (8, 6), (10, 20, 30)).save(file, "PNG")
    return file.getvalue()


_PNG = _png()


def unpacking():
    calls = [lambda name=name: _MODULES[name].decompress(_PACKED[name])[:5] for name in _MODULES]
    return _everywhere(*calls, lambda: zlib.decompress(b"none"), lambda: zlib.decompress(_PACKED["zlib"], bufsize=10)[:2],
                       lambda: zlib.decompress(), lambda: gzip.decompress(b"none"), lambda: gzip.GzipFile(fileobj=io.BytesIO(
                           _PACKED["gzip"])).read(4), lambda: lzma.decompress(b"none"), lambda: bz2.decompress(b"none"))


def images():
    def opened():
        return Image.open(io.BytesIO(_PNG))

    return _everywhere(lambda: opened().size, lambda: opened().convert("L").getpixel((0, 0)), lambda: opened().resize((2, 2)).size,
                       lambda: opened().crop((1, 1, 3, 3)).tobytes(), lambda: opened().rotate(90, expand=True).size,
                       lambda: opened().transpose(Image.Transpose.FLIP_LEFT_RIGHT).mode, lambda: opened().verify(),
                       lambda: ImageOps.mirror(opened()).size, lambda: opened().load()[0, 0], lambda: Image.open(b"none"),
                       lambda: Image.open("/none"), lambda: opened().resize())


def images_that_fail():
    try:
        Image.open(io.BytesIO(b"none"))
    except UnidentifiedImageError as error:
        return str(error)[:30], error.__traceback__.tb_next.tb_frame.f_code.co_name, error.__traceback__.tb_next.tb_next


def arrays():
    with tempfile.NamedTemporaryFile(suffix=".npy") as file:
        numpy.save(file, numpy.arange(12.0).reshape(3, 4))
        file.flush()
        mapped = numpy.load(file.name, mmap_mode="r")
        return _everywhere(lambda: numpy.load(file.name).sum(), lambda: type(numpy.load(file.name, mmap_mode="r")).__name__,
                           lambda: mapped[1].tolist(), lambda: type(mapped[1]).__name__, lambda: mapped[0, 0].item(),
                           lambda: mapped.astype(int).tolist(), lambda: numpy.fromfile(file.name, numpy.int8, count=3).tolist(),
                           lambda: numpy.loadtxt(io.StringIO("1 2\n3 4")).tolist(), lambda: numpy.load("/none"))


def archives():
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        for name in ("a", "b"):
            member = tarfile.TarInfo(name)
            member.size = 3
            archive.addfile(member, io.BytesIO(name.encode() * 3))

    def read():
        with tarfile.open(fileobj=io.BytesIO(file.getvalue())) as archive:
            return [(member.name, archive.extractfile(member).read()) for member in archive]

    return _everywhere(read, lambda: tarfile.open(fileobj=io.BytesIO(b"none")))


def what_functions_are():
    functions = {"zlib": zlib.decompress, "gzip": gzip.decompress, "open": Image.open, "load": numpy.load, "fromfile": numpy.fromfile,
                 "resize": Image.Image.resize, "read": gzip.GzipFile.read, "next": tarfile.TarFile.next}
    return {name: (callable(function), inspect.isfunction(function), inspect.isbuiltin(function), inspect.isroutine(function),
                   repr(function).partition(" at ")[0], (function.__doc__ or "")[:20],
                   inspect.getsourcefile(function) if inspect.isfunction(function) else "")
            for name, function in functions.items()}


def signatures():
    return [str(inspect.signature(function)) for function in (zlib.decompress, gzip.decompress, Image.open, numpy.load,
                                                              Image.Image.resize, gzip.GzipFile.read)]


def methods_that_are_replaced():
    before = Image.Image.resize
    Image.Image.resize = lambda self, size: "replaced"
    try:
        return Image.open(io.BytesIO(_PNG)).resize((1, 1))
    finally:
        Image.Image.resize = before


def tensors_of_images():
    image = numpy.asarray(Image.open(io.BytesIO(_PNG)))
    return torch.from_numpy(image.copy()).float().mean().item()
