"""The C library of this process. Before `join` everything does nothing."""

import ctypes
import errno
import json
import os
from typing import Any, Dict, List

from loaderscope_guest import unmeasured
from loaderscope_guest.settings import FOLDER

_I, _L = ctypes.c_int32, ctypes.c_int64
_SIGNATURES: Dict[str, Any] = {
    "lsg_join": (ctypes.c_int, [ctypes.c_char_p, ctypes.c_char_p]),
    "lsg_say": (None, [ctypes.c_char_p]),
    "lsg_flags": (ctypes.c_void_p, []),
    "lsg_thread_cpu_ns": (_L, []),
    "lsg_begin_work": (None, [_L]),
    "lsg_sample": (None, [_L]),
    "lsg_enter": (None, [ctypes.c_int]),
    "lsg_leave": (None, [_L]),
    "lsg_end_work": (None, [ctypes.c_int]),
    "lsg_start_up": (None, [_L, _L]),
    "lsg_rest": (None, [_L, _L]),
    "lsg_fact": (None, [ctypes.c_int, _I, _I, _I, _L, _L, _L, _L, _L, _L]),
    "lsg_object_size": (_L, [_L]),
    "lsg_device_collect": (None, []),
    "lsg_gpu_watch": (ctypes.c_char_p, []),
    "lsg_gpu_record": (None, [ctypes.c_int]),
    "lsg_gpu_flush": (None, []),
}


def _load() -> ctypes.PyDLL:
    library = ctypes.PyDLL(os.path.join(FOLDER, "libloaderscope_guest.so"))
    for name, (result, arguments) in _SIGNATURES.items():
        function = getattr(library, name)
        function.restype = result
        function.argtypes = arguments
    return library


_library = _load()
thread_cpu_ns = _library.lsg_thread_cpu_ns
begin_work = _library.lsg_begin_work
sample = _library.lsg_sample
enter = _library.lsg_enter
leave = _library.lsg_leave
end_work = _library.lsg_end_work
start_up = _library.lsg_start_up
rest = _library.lsg_rest
fact = _library.lsg_fact
object_size = _library.lsg_object_size
collect = _library.lsg_device_collect
gpu_watch = _library.lsg_gpu_watch
gpu_record = _library.lsg_gpu_record

gpu_flush = _library.lsg_gpu_flush

# Kinds of facts; FactKind of the host.
EPOCH, DISPATCHED, ASK, TAKE, ENDED, RECEIVED, PINNED, DELIVERABLE, BEGUN, FINISHED, SENT = range(1, 12)
COPIED, COMPUTED, REPLAYED, MOVED, FAILED, STARTED = range(12, 18)

_BATCH_BITS, _GENERATION_BITS = 28, 16  # of a span's batch


def begin_batch(iterator: int, generation: int, batch: int) -> None:
    begin_work((iterator << _GENERATION_BITS | generation) << _BATCH_BITS | batch)


_STOP = 0x706F7473  # Page::kStop of the host


class _Shared(ctypes.Structure):
    _fields_ = [("stop", ctypes.c_uint32), ("timing", ctypes.c_uint32)]


class Flags:
    """What the host wants, as far as this process has looked."""

    def __init__(self) -> None:
        self._shared = _Shared(0, 1)
        self.joined_pid = 0
        self.role = ""  # trainer, worker
        self.timing = True  # of the batch that is made; looked at once per batch

    def joined(self, role: str) -> None:
        self.joined_pid = os.getpid()
        self.role = role
        self._shared = _Shared.from_address(_library.lsg_flags())

    def forget(self) -> None:
        self.joined_pid = 0
        self._shared = _Shared(0, 1)

    def must_stop(self) -> bool:
        return self._shared.stop == _STOP

    def timing_wanted(self) -> bool:
        return self._shared.timing != 0

    def is_joined(self) -> bool:
        return self.joined_pid == os.getpid()

    def is_worker(self) -> bool:
        return self.is_joined() and self.role == "worker"

    def look(self) -> None:
        self.timing = self.timing_wanted()


flags = Flags()


_unsaid: List[bytes] = []
_NOT_TAKEN_IN = {errno.EPROTO: "loaderscope could not take it in", errno.EAGAIN: "loaderscope did not answer"}
_LONGEST = 200_000  # bytes of a message
_LONGEST_TEXT, _MOST_PARTS = 200, 200  # characters and parts of a value in one that would be longer


def join(**who: Any) -> bool:
    """Makes this process a member of the measured job, once."""
    if flags.joined_pid == os.getpid():
        return True
    who["pid"] = os.getpid()
    error = _library.lsg_join(os.path.join(FOLDER, "host").encode(), json.dumps(who).encode())
    if error != 0:
        unmeasured.leave_word(who["role"], _NOT_TAKEN_IN.get(error) or os.strerror(error))
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
    return text if len(text) <= _LONGEST else _encoded(_cut(message))


def say(**message: Any) -> None:
    """To the host; before this process has joined, once it does."""
    say_spelled(spelled(**message))


def say_spelled(message: bytes) -> None:
    if flags.joined_pid == os.getpid():
        _library.lsg_say(message)
    else:
        _unsaid.append(message)
