"""The C library of this process, and the constants that this package shares with the host. The library returns them. It
is built from the same headers as the host, so they are not repeated here. Before `join`, all functions do nothing."""

import ctypes
import errno
import json
import os
import threading
import time
from types import SimpleNamespace
from typing import Any, Dict, List

from loaderscope_guest import settings
from loaderscope_guest.settings import FOLDER


now = time.monotonic_ns  # time of CLOCK_MONOTONIC, as everywhere in loaderscope
PROGRAM = now()  # number of the program; changes if the process runs itself again
PATH = os.path.join(FOLDER, "libloaderscope_guest.so")
_TYPES: Dict[str, Any] = {"void": None, "int32": ctypes.c_int32, "int64": ctypes.c_int64, "text": ctypes.c_char_p,
                          "address": ctypes.c_void_p}


def _read_protocol() -> Dict[str, Any]:
    protocol = ctypes.CDLL(PATH).lsg_protocol
    protocol.restype = ctypes.c_char_p
    return json.loads(protocol())


_all = _read_protocol()
FACT = SimpleNamespace(**_all["facts"])  # kinds of facts, by name
MESSAGE = SimpleNamespace(**_all["messages"])  # kinds of messages, by name: their "what"
ROLE = SimpleNamespace(**_all["roles"])  # roles of processes
SAMPLE = SimpleNamespace(**_all["samples"])  # special values in place of a sample's number
STAGES: Dict[str, int] = _all["stages"]  # name -> number
LONGEST_MESSAGE: int = _all["longest_message"]  # bytes


def functions(load: Any) -> Any:
    """Returns the library's functions. `load`: ctypes.PyDLL calls them with the interpreter's lock, ctypes.CDLL without
    it."""
    library = load(PATH)
    found = SimpleNamespace()
    for name, (result, *arguments) in _all["functions"].items():
        function = getattr(library, f"lsg_{name}")
        function.restype, function.argtypes = _TYPES[result], [_TYPES[argument] for argument in arguments]
        setattr(found, name, function)
    return found


def _callables() -> Dict[str, Any]:
    """Returns the functions of numbers alone by name, and the makers of timed functions. They are in C, and avoid the
    cost of a ctypes call."""
    library = ctypes.PyDLL(PATH)
    library.lsg_missing_symbol.restype = ctypes.c_char_p
    missing = library.lsg_missing_symbol()
    if missing:
        raise ImportError(f"this Python has no {missing.decode()}, which CPython 3.8 and later have")
    library.lsg_python_functions.restype = ctypes.py_object
    return library.lsg_python_functions()


# Functions that are called with the interpreter's lock, so that one thread at a time writes.
_library = functions(ctypes.PyDLL)
vars(_library).update(_callables())
thread_cpu_ns = _library.thread_cpu_ns
ask = _library.ask
take = _library.take
step = _library.step
took = _library.took
moving = _library.moving
choosing = _library.choosing
chosen = _library.chosen
begin_batch = _library.begin_batch
begin_work = _library.begin_work
sample = _library.sample
enter = _library.enter
leave = _library.leave
enter_after_samples = _library.enter_after_samples
is_in_stage = _library.is_in_stage
end_work = _library.end_work
finish = _library.finish
start_up = _library.start_up
rest = _library.rest
fact = _library.fact
begin_receiving = _library.begin_receiving
received = _library.received
object_size = _library.object_size
operator = _library.operator
others_did = _library.others_did
timed = _library.timed
spent_by = _library.spent_by
handles_batch = _library.handles_batch
set_step_call = _library.set_step_call
watch_opens = _library.watch_opens
opened = _library.opened
collected = _library.collected
library_threads = _library.library_threads
count_collection = _library.count_collection
collect = _library.device_collect
sample_lines = _library.sample_lines
gpu_watch = _library.gpu_watch
gpu_record = _library.gpu_record
gpu_stop = _library.gpu_stop
gpu_begin_stage = _library.gpu_begin_stage
gpu_end_stage = _library.gpu_end_stage


class Flags:
    """Requests of the host, as last seen by this process."""

    def __init__(self) -> None:
        self.joined_pid = 0
        self.role = ""  # a ROLE
        self.timing = True  # stages of the current batch are timed

    def joined(self, role: str) -> None:
        self.joined_pid = os.getpid()
        self.role = role

    def forget(self) -> None:
        self.joined_pid = 0

    def timing_wanted(self) -> bool:
        return _library.timing_wanted() != 0

    def is_joined(self) -> bool:
        return self.joined_pid == os.getpid()

    def is_worker(self) -> bool:
        return self.is_joined() and self.role == ROLE.worker


flags = Flags()


_unsaid: List[bytes] = []
_MOST_UNSAID = 256  # messages: the child of a fork may never join
_REFUSALS = {errno.EAGAIN: "loaderscope takes in no more processes",
                 errno.EFBIG: "its limit on the size of files (ulimit -f) is too small for what loaderscope shares with it"}
_LONGEST_TEXT, _MOST_PARTS = 200, 200  # characters and parts of a value in one that would be longer


def join(**who: Any) -> bool:
    """Makes this process a member of the measured job, once."""
    if flags.joined_pid == os.getpid():
        return True
    who["pid"] = os.getpid()
    error = _library.join(os.path.join(FOLDER, "host").encode(), json.dumps(who).encode())
    if error != 0:
        settings.leave_word(who["role"], _REFUSALS.get(error) or os.strerror(error))
        return False
    flags.joined(who["role"])
    while _unsaid:
        say_spelled(_unsaid.pop(0))
    return True


os.register_at_fork(after_in_child=flags.forget)


def _cut(value: Any) -> Any:
    if isinstance(value, str):
        return value[:_LONGEST_TEXT]
    if isinstance(value, dict):
        return {_cut(name): _cut(part) for name, part in value.items()}
    return [_cut(part) for part in value[:_MOST_PARTS]] if isinstance(value, (list, tuple)) else value


def _encoded(message: Any) -> bytes:
    """Names that are no UTF-8, as those of files may be, have a question mark instead."""
    return json.dumps(message, ensure_ascii=False).encode("utf-8", "replace")


def spelled(**message: Any) -> bytes:
    text = _encoded(message)
    return text if len(text) <= LONGEST_MESSAGE else _encoded(_cut(message))


def say(**message: Any) -> None:
    """To the host; before this process has joined, once it does."""
    say_spelled(spelled(**message))


def say_spelled(message: bytes) -> None:
    if flags.joined_pid == os.getpid():
        _library.say(message)
    elif len(_unsaid) < _MOST_UNSAID:
        _unsaid.append(message)


class Turn:
    """A lock that the child of a fork finds open, even if another thread held it."""

    def __init__(self) -> None:
        self._renew()
        os.register_at_fork(after_in_child=self._renew)

    def _renew(self) -> None:
        self._lock = threading.RLock()

    def __call__(self) -> Any:
        """Returns the lock for `with`."""
        return self._lock
