"""The threads that libraries start in this process, and where its interpreter's lock is."""

import ctypes
import sys
from typing import Any, Callable, Dict, Tuple

from loaderscope_guest import library, messages
from loaderscope_guest.protocol import MESSAGE

_POOLS: Dict[str, Callable[[Any], int]] = {
    "torch": lambda module: module.get_num_threads(),
    "cv2": lambda module: module.getNumThreads(),
}


def _runtime() -> Tuple[int, int]:
    """Where the interpreter's state stands, which holds the lock, and its size; 0: not known."""
    try:
        address = ctypes.addressof(ctypes.c_char.in_dll(ctypes.pythonapi, "_PyRuntime"))
    except ValueError:
        return 0, 0
    return address, library.object_size(address)


def say() -> None:
    with messages.never_failing("the threads of a process are"):
        sizes = {name: size(sys.modules[name]) for name, size in _POOLS.items() if name in sys.modules}
        library.say(what=MESSAGE.threads, pools=sizes, runtime=_runtime())
