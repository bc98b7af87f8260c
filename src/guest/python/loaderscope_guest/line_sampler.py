"""The lines of the program's own code that a worker spends its `opaque` time in: the library samples them now and then,
by a pending call in the worker's main thread."""

import atexit
import os
import sys
import sysconfig
import threading
from typing import Any, Dict, Optional

from loaderscope_guest import construction, library, user_code

_EVERY = 40_000_000  # ns between two samples, which take some 10 us each
_MOST = 256  # lines that are kept
_DEEPEST = 64  # frames
_START_OF_PROCESS = os.path.join("multiprocessing", "process.py")
_LIBRARY = tuple(os.path.join(path, "") for path in {sysconfig.get_path(name) for name in ("stdlib", "platstdlib")})


def _is_programs_own(file: str) -> bool:
    return not (construction.is_in_packages(file) or file.startswith(_LIBRARY) or file.startswith("<"))


def _is_start_of_process(code: Any) -> bool:
    """Below this frame, a forked worker's stack has the lines at which its trainer forked."""
    return bool(code.co_name == "_bootstrap") and code.co_filename.endswith(_START_OF_PROCESS)


def frame_line(frame: Any) -> Optional[str]:
    """Returns the innermost line of the program, "feature (train.py:31)", or a library's if the program has none in the
    stack. None if the guest itself runs."""
    if frame is None or frame.f_code.co_filename.startswith(construction.OURS):
        return None
    found = None
    for _ in range(_DEEPEST):
        file = frame.f_code.co_filename
        is_first = _is_start_of_process(frame.f_code)
        is_own = not is_first and _is_programs_own(file) and not file.startswith(construction.OURS)
        if is_own or found is None:
            found = (frame.f_code.co_name, os.path.basename(file), frame.f_lineno)
        frame = frame.f_back
        if is_own or is_first or frame is None:
            break
    return None if found is None else "%s (%s:%s)" % found


class Samples:
    """Lines of the program that `maker` runs while it makes a batch and is in no stage."""

    def __init__(self, maker: Any, spent: Dict[str, int]) -> None:
        self._maker = maker
        self._spent = spent

    def __call__(self, since: int) -> None:
        """Between two instructions of the caller, which may be any code of the program: never fails it."""
        try:
            self.take(sys._getframe(1), since)
        except Exception:
            pass

    def take(self, frame: Any, since: int) -> None:
        """Adds the time since the last sample to the line."""
        maker = self._maker
        if not maker.is_here() or library.is_in_stage() or not library.flags.timing:
            return
        line = frame_line(frame)
        if line is not None and (line in self._spent or len(self._spent) < _MOST):
            self._spent[line] = self._spent.get(line, 0) + since


_watched = 0  # the process


def watch(maker: Any) -> None:
    """Starts the sampler once, in a worker that has made a batch. Pending calls run only in the main thread."""
    global _watched
    if _watched == os.getpid():
        return
    _watched = os.getpid()
    if threading.current_thread() is not threading.main_thread():
        return
    atexit.register(library.sample_lines, None, 0)
    library.sample_lines(Samples(maker, user_code.spending.lines), _EVERY)
