"""What this package has in common with the host, and how the C library of this process is called. The library tells it:
it is built from the same headers as the host, so none of it is written down here."""

import ctypes
import json
import os
from types import SimpleNamespace
from typing import Any, Dict

from loaderscope_guest.settings import FOLDER

_PATH = os.path.join(FOLDER, "libloaderscope_guest.so")
_TYPES: Dict[str, Any] = {"void": None, "int32": ctypes.c_int32, "int64": ctypes.c_int64, "text": ctypes.c_char_p,
                          "address": ctypes.c_void_p}


def _told() -> Dict[str, Any]:
    tell = ctypes.CDLL(_PATH).lsg_protocol
    tell.restype = ctypes.c_char_p
    return json.loads(tell())


_all = _told()
FACT = SimpleNamespace(**_all["facts"])  # kinds of facts, by name
MESSAGE = SimpleNamespace(**_all["messages"])  # kinds of messages, likewise: their "what"
ROLE = SimpleNamespace(**_all["roles"])  # of a process
SAMPLE = SimpleNamespace(**_all["samples"])  # in place of a sample's number
STAGES: Dict[str, int] = _all["stages"]  # name -> number
LONGEST_MESSAGE: int = _all["longest_message"]  # bytes


def functions(load: Any) -> Any:
    """Those of the library. `load`: ctypes.PyDLL, which calls them with the interpreter's lock, or ctypes.CDLL."""
    library = load(_PATH)
    found = SimpleNamespace()
    for name, (result, *arguments) in _all["functions"].items():
        function = getattr(library, f"lsg_{name}")
        function.restype, function.argtypes = _TYPES[result], [_TYPES[argument] for argument in arguments]
        setattr(found, name, function)
    return found
