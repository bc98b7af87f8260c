"""Formats of the loaders' own, that hold the very bytes of the JPEG files."""

import io
import os
import shutil
from typing import Any, Callable

from loaderscope_pipelines.options import Options


def made(options: Options, name: str, write: Callable[[str], None]) -> str:
    """A folder that `write` fills, once; one that is interrupted leaves none."""
    folder, there = options.made_path(name)
    if not there:
        unfinished = f"{folder}.{os.getpid()}"
        shutil.rmtree(unfinished, ignore_errors=True)
        os.makedirs(options.made, exist_ok=True)
        write(unfinished)
        os.rename(unfinished, folder)
    return folder


def stored(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def changed(image: bytes, change: Callable[[Any], Any]) -> Any:
    """Returns the result of `change` for a stored image, which Pillow decodes."""
    from PIL import Image

    with Image.open(io.BytesIO(image)) as decoded:
        return change(decoded.convert("RGB"))
