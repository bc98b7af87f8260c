"""Word for the host from a process that has no line to it."""

import contextlib
import os

from loaderscope_guest.settings import FOLDER

_LONGEST = 1000  # characters of a reason


def leave_word(role: str, reason: str) -> None:
    """Why this process is not measured. A link, because making one needs no file descriptor: there may be none left."""
    with contextlib.suppress(OSError, ValueError):
        os.symlink(reason[:_LONGEST] or role, f"{FOLDER}/unmeasured/{os.getpid()}-{role}")
