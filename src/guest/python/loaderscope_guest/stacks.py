"""Python stacks of the threads of this process, for a host that detects a hanging loader. A process that hangs runs no
Python code. The interpreter's own signal handler writes the stacks into memory that the host can read."""

import faulthandler
import os
import signal
from typing import Tuple

from loaderscope_guest import library
from loaderscope_guest.library import MESSAGE

_SIGNAL = signal.SIGRTMAX - 4  # signal without a known use
_NAME = "loaderscope-stacks"
_kept: Tuple[int, int, int] = (0, -1, 0)  # the process that has the memory, its descriptor, its inode


def offer() -> None:
    """Offers the stacks once this process has joined. Later calls do nothing. The child of a fork has memory of its
    own."""
    if _kept[0] == os.getpid() or not hasattr(os, "memfd_create") or signal.getsignal(_SIGNAL) != signal.SIG_DFL:
        return
    _close_the_parents()
    _register(os.memfd_create(_NAME))


def _register(descriptor: int) -> None:
    """System calls that the signal interrupts begin again: `register` asks for that."""
    global _kept
    _kept = (os.getpid(), descriptor, os.fstat(descriptor).st_ino)
    faulthandler.register(_SIGNAL, file=descriptor, all_threads=True, chain=False)
    library.say(what=MESSAGE.stacks, signal=int(_SIGNAL), descriptor=descriptor, inode=_kept[2])


def _close_the_parents() -> None:
    """The program may have closed it, and opened something else under its number."""
    _, descriptor, inode = _kept
    if descriptor < 0:
        return
    try:
        if os.fstat(descriptor).st_ino == inode:
            os.close(descriptor)
    except OSError:
        pass
