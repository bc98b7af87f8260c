"""The Python with all the loaders, in the user's cache folder."""

import contextlib
import fcntl
import hashlib
import os
import pathlib
import subprocess
import sys
from typing import Dict, Iterator, Tuple

# ffcv last: what it needs may ask for older releases of what the others are content with.
REQUIREMENTS = ("torch", "torchvision", "nvidia-dali-cuda130", "webdataset", "spdl", "simplejpeg", "pillow",
                "opencv-python-headless", "albumentations", "kornia", "ffcv")


def cache_folder() -> pathlib.Path:
    return pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "loaderscope"


def folder() -> pathlib.Path:
    key = "\n".join((sys.version, *REQUIREMENTS))
    return cache_folder() / f"peers-{hashlib.sha256(key.encode()).hexdigest()[:12]}"


@contextlib.contextmanager
def _alone(place: pathlib.Path) -> Iterator[None]:
    place.parent.mkdir(parents=True, exist_ok=True)
    with open(f"{place}.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def reason_of(output: str) -> str:
    """The line of a failed program's output that says most."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if "Error" in line or line.lower().startswith("error:")]
    return (errors or lines or ["it failed without a word"])[-1][:200]


def _install(python: pathlib.Path, package: str) -> str:
    """Why it could not be installed; "" where it was."""
    done = subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", package],
                          capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else reason_of(done.stderr)


def make() -> Tuple[pathlib.Path, Dict[str, str]]:
    """The path of its Python, and what could not be installed, with the reason. That is tried again each time."""
    place = folder()
    python = place / "bin" / "python"
    failed: Dict[str, str] = {}
    with _alone(place):
        if not python.exists():
            subprocess.run([sys.executable, "-m", "venv", place], check=True)
        for package in REQUIREMENTS:
            done = place / f"installed-{package}"
            if done.exists():
                continue
            print(f"peers: installing {package} from PyPI into {place}", file=sys.stderr)
            reason = _install(python, package)
            if reason:
                failed[package] = reason
            else:
                done.touch()
    return python, failed
