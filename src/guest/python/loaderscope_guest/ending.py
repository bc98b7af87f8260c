"""Ends the program once it has been measured: by a SystemExit, so that the script's own clean-up runs.

A loader may run in a thread of its own, where a SystemExit ends that thread alone and the main thread waits for a batch for
ever. The main thread is then given its SystemExit by a signal, as only a signal wakes a thread that waits for another.
"""

import signal
import threading
from typing import Any

_SIGNAL = signal.SIGRTMAX - 3  # of no known use
_is_installed = False
_is_told = threading.Lock()


def _stop(number: int, frame: Any) -> None:
    raise SystemExit(0)


def install() -> None:
    global _is_installed
    if threading.current_thread() is threading.main_thread() and signal.getsignal(_SIGNAL) == signal.SIG_DFL:
        signal.signal(_SIGNAL, _stop)
        _is_installed = True


def end() -> None:
    """Does not return. No class of our own: threads are silent about SystemExit alone."""
    main = threading.main_thread()
    if threading.current_thread() is not main and main.is_alive() and _is_installed and _is_told.acquire(blocking=False):
        signal.pthread_kill(main.ident or 0, _SIGNAL)
    raise SystemExit(0)
