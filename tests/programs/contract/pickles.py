"""Objects that a program pickles. It has these functions before it imports torch."""

import bz2
import gzip
import lzma
from zlib import compress, decompress

from numpy import fromfile, load
from PIL import Image
from PIL.Image import open as image_open

_HELD = {"gzip": gzip.decompress, "lzma": lzma.decompress}


def _default_unpack(unpack=bz2.decompress):
    return unpack


import copy  # noqa: E402
import hashlib  # noqa: E402
import io  # noqa: E402
import pickle  # noqa: E402
import zlib  # noqa: E402
from multiprocessing.reduction import ForkingPickler  # noqa: E402

import numpy  # noqa: E402
import torch  # noqa: E402
import torchvision.io  # noqa: E402
import torchvision.transforms.functional as F  # noqa: E402
from torch.utils.data import DataLoader  # noqa: E402

NEEDS = "torch torchvision numpy PIL"

FUNCTIONS = [decompress, zlib.decompress, image_open, Image.open, load, numpy.load, fromfile, gzip.decompress, _HELD["gzip"],
             _HELD["lzma"], lzma.decompress, _default_unpack(), bz2.decompress, F.resize, torchvision.io.read_image,
             torchvision.io.decode_jpeg, Image.Image.convert, Image.Image.resize, torch.Tensor.to, torch.Tensor.copy_]


class Packed:
    def __init__(self):
        self.unpack, self.others = decompress, FUNCTIONS

    def __len__(self):
        return 4

    def __getitem__(self, index):
        return int(self.unpack(compress(b"%d" % index)))


def _digest(data):
    return hashlib.sha256(data).hexdigest()[:16]


def pickles():
    return [[_digest(pickle.dumps(function, protocol)) for function in FUNCTIONS] for protocol in (2, 4, 5)]


def pickles_in_python():
    return _digest(pickle._dumps(FUNCTIONS)), _digest(ForkingPickler.dumps(FUNCTIONS))


def pickled_functions_come_back():
    return [pickle.loads(pickle.dumps(function)) == function for function in FUNCTIONS]


def copies():
    return [copy.deepcopy(function) == function and copy.copy(function) == function for function in FUNCTIONS]


def saved_by_torch():
    file = io.BytesIO()
    torch.save(Packed(), file)
    file.seek(0)
    return torch.load(file, weights_only=False)[3]


def methods_of_objects():
    image = Image.new("RGB", (2, 2))
    return pickle.loads(pickle.dumps(image.resize))((1, 1)).size, _digest(pickle.dumps(image))


def loaders_of_each_start_method():
    return [[batch.tolist() for batch in DataLoader(Packed(), 2, num_workers=1, multiprocessing_context=method)]
            for method in ("fork", "spawn", "forkserver")]


def names_of_functions():
    return [(function.__name__, function.__qualname__, repr(function).split(" at ")[0]) for function in FUNCTIONS]


def functions_are_equal_to_themselves():
    return decompress is zlib.decompress, image_open is Image.open, load is numpy.load, len(set(FUNCTIONS))
