"""Files below a folder that a program reads or loads. The trace shows whether a change can affect the program. It has
one path per line, and is written while LOADERSCOPE_TOUCHED names a file. "!" marks the start of another program,
whose files are unknown."""

import os
import sys
from typing import Any, Set, Tuple

_OUTPUT = "LOADERSCOPE_TOUCHED"  # the file, an absolute path
_BELOW = "LOADERSCOPE_TOUCHED_BELOW"  # the folder, an absolute path
_FILES = ("open", "ctypes.dlopen")
_PROGRAMS = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn")
_LOOK_AT_THE_SYSTEM = ("ldconfig", "gcc", "cc", "ld", "objdump", "nvidia-smi", "uname", "lscpu", "getconf")
_CACHE = "__pycache__"


def _source_path(path: str) -> str:
    """Returns the source of a compiled file: FOLDER/__pycache__/NAME.cpython-312.pyc."""
    folder, name = os.path.split(path)
    if os.path.basename(folder) != _CACHE:
        return path
    return os.path.join(os.path.dirname(folder), name.split(".")[0] + ".py")


class _Log:
    def __init__(self, output: int, below: str) -> None:
        self.output = output
        self.below = below.rstrip("/") + "/"
        self.reported: Set[str] = set()

    def report(self, line: str) -> None:
        if line not in self.reported:
            self.reported.add(line)
            os.write(self.output, (line + "\n").encode("utf-8", "surrogateescape"))

    def report_path(self, path: Any) -> None:
        if not isinstance(path, (str, bytes, os.PathLike)):
            return  # a descriptor, which somebody has opened
        full = os.path.abspath(os.fsdecode(path))
        if full.startswith(self.below):
            self.report(_source_path(full)[len(self.below) :])

    def __call__(self, event: str, arguments: Tuple[Any, ...]) -> None:
        try:
            if event == "ctypes.dlopen" and "/" not in (arguments[0] or ""):
                return  # the system searches for a library without a path
            if event in _FILES:
                self.report_path(arguments[0])
            elif event == "import" and arguments[1]:  # a compiled library; Python sources are opened, too
                self.report_path(arguments[1])
            elif event in _PROGRAMS and os.path.basename(os.fsdecode(arguments[0])) not in _LOOK_AT_THE_SYSTEM:
                self.report("!")
        except Exception:  # the name is not text, or the interpreter is ending
            return


def begin() -> None:
    output, below = os.environ.get(_OUTPUT), os.environ.get(_BELOW)
    if output and below:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        sys.addaudithook(_Log(os.open(output, flags, 0o600), below))
