"""Prepares the needs of the programs: their sources, a Python with their packages, and small sets of data."""

import os
import pathlib
import random
import struct
import subprocess
import tarfile
from typing import Any, Dict


def clone(repository: str, commit: str, programs: pathlib.Path) -> pathlib.Path:
    folder = programs / repository
    if not folder.exists():
        subprocess.run(["git", "clone", "--quiet", f"https://github.com/{repository}", folder], check=True)
        subprocess.run(["git", "-C", folder, "checkout", "--quiet", commit], check=True)
    return folder


def python_with(base: pathlib.Path, packages: set, folder: pathlib.Path) -> pathlib.Path:
    """A virtual environment of its own that sees the packages of `base`, which stays as it is. What it lacks is installed."""
    python, listed = folder / "bin" / "python", folder / "installed.txt"
    if not python.exists():
        subprocess.run([base, "-m", "venv", folder], check=True)
        find = "import site; print(site.getsitepackages()[0])"
        sites = [subprocess.run([one, "-c", find], capture_output=True, text=True, check=True).stdout.strip()
                 for one in (base, python)]
        pathlib.Path(sites[1], "base.pth").write_text(sites[0] + "\n", encoding="utf-8")
    installed = set(listed.read_text(encoding="utf-8").split()) if listed.exists() else set()
    if packages - installed:
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
                        *sorted(packages - installed)], check=True)
        listed.write_text("\n".join(sorted(packages | installed)) + "\n", encoding="utf-8")
    return python


def _mnist(folder: pathlib.Path, _: pathlib.Path) -> None:
    raw = folder / "raw"
    raw.mkdir(parents=True)
    for name, count in (("train", 60_000), ("t10k", 10_000)):
        pixels = struct.pack(">IIII", 2051, count, 28, 28) + random.Random(0).randbytes(count * 28 * 28)
        (raw / f"{name}-images-idx3-ubyte").write_bytes(pixels)
        labels = struct.pack(">II", 2049, count) + bytes(index % 10 for index in range(count))
        (raw / f"{name}-labels-idx1-ubyte").write_bytes(labels)


def _make(loaderscope: pathlib.Path, folder: pathlib.Path, count: int) -> None:
    subprocess.run([loaderscope, "data", "make", folder, "--count", str(count)], check=True, stdout=subprocess.DEVNULL)


def _photos(folder: pathlib.Path, loaderscope: pathlib.Path) -> None:
    _make(loaderscope, folder / "train", 1000)
    _make(loaderscope, folder / "val", 100)


def _many_photos(folder: pathlib.Path, loaderscope: pathlib.Path) -> None:
    _make(loaderscope, folder / "train", 12_000)  # an epoch of some seconds where a GPU trains
    _make(loaderscope, folder / "val", 500)


def _flat(folder: pathlib.Path, loaderscope: pathlib.Path) -> None:
    _make(loaderscope, folder, 500)
    for number, file in enumerate(sorted(folder.rglob("*.jpg"))):
        file.rename(folder / f"{number:04}.jpg")


def _shards(folder: pathlib.Path, loaderscope: pathlib.Path) -> None:
    photos = folder.with_name("of-shards")
    _make(loaderscope, photos, 1000)
    folder.mkdir()
    files = sorted(photos.rglob("*.jpg"))
    random.Random(0).shuffle(files)
    for shard in range(10):
        with tarfile.open(folder / f"{shard:03}.tar", "w") as tar:
            for file in files[shard::10]:
                label = file.with_suffix(".cls")
                label.write_text(file.parent.name[-2:], encoding="utf-8")
                for path in (file, label):
                    tar.add(path, f"{file.parent.name}-{path.name}")


def _text(file: pathlib.Path, _: pathlib.Path) -> None:
    file.write_text("".join(random.Random(0).choices("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz ,.!", k=1_000_000)), encoding="utf-8")


_MAKERS = {"mnist": _mnist, "photos": _photos, "many-photos": _many_photos, "flat": _flat, "shards": _shards, "text": _text}


def data(name: str, folder: pathlib.Path, loaderscope: pathlib.Path) -> pathlib.Path:
    path = folder / name
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        _MAKERS[name](path, loaderscope)
    return path


def link(program: Dict[str, Any], here: pathlib.Path, folder: pathlib.Path, loaderscope: pathlib.Path) -> None:
    """Puts the data where the program looks for it."""
    for place, name in program.get("data", {}).items():
        at = pathlib.Path(os.path.normpath(here / place))
        at.parent.mkdir(parents=True, exist_ok=True)
        made = data(name, folder, loaderscope)
        if not at.is_symlink():
            at.symlink_to(made)
