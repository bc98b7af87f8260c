"""Messages to the host in sentences, and messages about the process as a whole. Each degradation is reported once per
process."""

import contextlib
import ctypes
import functools
import os
import re
import signal
import sys
import traceback
import weakref
from typing import Any, Callable, Dict, Iterable, List, NamedTuple, Optional, Set, Tuple

from loaderscope_guest import library, stacks
from loaderscope_guest.identity import IdentityMap
from loaderscope_guest.library import MESSAGE, ROLE
from loaderscope_guest.settings import RANK

_said: Set[str] = set()
_LIKELY_CAUSE = {"SIGKILL": " (if no user did so, memory ran out)", "SIGBUS": " (/dev/shm is full)"}


def join_as_trainer() -> bool:
    joined = library.join(role=ROLE.trainer, rank=RANK, program=library.PROGRAM)
    if joined:
        offer_stacks()
    return joined


def refuse(sentence: str) -> None:
    """Our side of the job cannot begin."""
    join_as_trainer()
    library.say(what=MESSAGE.refused, text=sentence)
    raise SystemExit(1)


def degraded(sentence: str, loader: bool = False) -> None:
    """`loader`: one is not measured at all."""
    if sentence in _said:
        return
    _said.add(sentence)
    library.say(what=MESSAGE.degraded, text=sentence, loader=loader)


def not_seen(part: str, error: Exception) -> None:
    with contextlib.suppress(Exception):  # an error of the user's own may be one that cannot be spelled
        degraded(f"{part} not looked into: {error!r}")


class never_failing:
    """Guards the guest's own work, because the program's objects may do anything when they are examined. Use it as
    `with`, or as a decorator of a function that is called for each batch. The function returns None if it fails."""

    def __init__(self, part: str) -> None:
        self._part = part

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: Any, where: Any) -> bool:
        if isinstance(error, Exception):
            not_seen(self._part, error)
            return True
        return False

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        part = self._part

        @functools.wraps(function)
        def unfailing(*arguments: Any, **named: Any) -> Any:
            try:
                return function(*arguments, **named)
            except Exception as error:
                not_seen(part, error)

        return unfailing


def offer_stacks() -> None:
    """Offers the Python stacks of a process that has joined."""
    with never_failing("the Python line of a process is"):
        stacks.offer()


def _parse_worker(text: str) -> Optional[int]:
    found = re.search(r"DataLoader worker process (\d+)", text)
    return int(found.group(1)) if found else None


def _signal_name(number: int) -> str:
    """Returns the name of a signal. Real-time signals have no names."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _read_attribute(process: Any, name: str) -> Any:
    """Returns None if the process object has been closed."""
    try:
        return getattr(process, name, None)
    except ValueError:
        return None


def _dead_workers(workers: Iterable[Any], said_of: str = "") -> str:
    """Describes the workers that were killed, with the signal. `said_of`: a text with their process numbers, or "" for
    all."""
    said = []
    for number, process in enumerate(workers):
        code = _read_attribute(process, "exitcode")
        if not code:
            continue
        if said_of and str(process.pid) not in re.findall(r"\d+", said_of):
            continue
        if code < 0:
            name = _signal_name(-code)
            said.append(f"worker {number} (process {process.pid}) was killed by {name}{_LIKELY_CAUSE.get(name, '')}")
        else:
            said.append(f"worker {number} (process {process.pid}) ended with exit code {code}")
    return ", ".join(said)


def _wait_for_a_death(iterator: Any) -> None:
    """A worker's connections close a moment before its end can be seen."""
    ends = [end for end in (_read_attribute(process, "sentinel") for process in _list_workers(iterator)) if end is not None]
    if ends:
        from multiprocessing import connection

        connection.wait(ends, timeout=1)


def _list_workers(iterator: Any) -> Iterable[Any]:
    return getattr(iterator, "_workers", ())


_is_hooked = False
_with_workers = IdentityMap()  # iterators


class _Ended(NamedTuple):
    """The facts that are kept of a worker. Its Process object would keep its descriptors open."""

    pid: Any
    exitcode: Any


_workers_before: List[_Ended] = []  # workers of the iterator that was released last


@never_failing("how workers ended is")
def _forget_workers(workers: Iterable[Any]) -> None:
    _workers_before[:] = [_Ended(_read_attribute(process, "pid"), _read_attribute(process, "exitcode")) for process in workers]


def watch_workers(iterator: Any) -> None:
    """PyTorch raises where the program happens to be when a worker dies, which may be in its own training."""
    global _is_hooked
    if not _is_hooked:
        _is_hooked = True
        sys.excepthook = functools.partial(_say_dead_workers, sys.excepthook)
    _with_workers.put(iterator, None)
    weakref.finalize(iterator, _forget_workers, _list_workers(iterator)).atexit = False


def _say_dead_workers(hook: Any, kind: Any, error: Any, where: Any) -> None:
    with never_failing("how workers ended is"):
        all_dead = [_dead_workers(_list_workers(iterator)) for iterator in _with_workers.things()]
        # The error has taken the iterator along, which has then ended workers that were well.
        all_dead.append(_dead_workers(_workers_before, said_of=str(error)))
        for dead in filter(None, all_dead):
            library.say(what=MESSAGE.failed, text=dead, worker=None)
    hook(kind, error, where)


@never_failing("how a loader failed is")
def failed(error: BaseException, iterator: Any, where: str = "") -> None:
    """Reports an exception of the loader. `where`: words that follow it."""
    text = "".join(traceback.format_exception_only(type(error), error)).strip()
    if isinstance(error, (ConnectionError, EOFError)):
        _wait_for_a_death(iterator)
    dead = _dead_workers(_list_workers(iterator))
    if dead:
        library.say(what=MESSAGE.failed, text=dead, worker=None)
        return
    library.say(what=MESSAGE.failed, text=text + where, worker=_parse_worker(text))


_POOLS: Dict[str, Callable[[Any], int]] = {
    "torch": lambda module: module.get_num_threads(),
    "cv2": lambda module: module.getNumThreads(),
}


def _runtime() -> Tuple[int, int]:
    """Returns the address and the size of the interpreter's state, which contains the lock. 0: unknown."""
    try:
        address = ctypes.addressof(ctypes.c_char.in_dll(ctypes.pythonapi, "_PyRuntime"))
    except ValueError:
        return 0, 0
    return address, library.object_size(address)


_said_threads = 0  # process that has reported


def say_threads_that_make_batches() -> None:
    """Reports the threads once, after a process has made a batch."""
    global _said_threads
    if _said_threads != os.getpid():
        _said_threads = os.getpid()
        say_threads()


def say_threads() -> None:
    """Reports the threads that libraries start in this process, and the address of its interpreter's lock."""
    with never_failing("the threads of a process are"):
        sizes = {name: size(sys.modules[name]) for name, size in _POOLS.items() if name in sys.modules}
        library.say(what=MESSAGE.threads, pools=sizes, runtime=_runtime())
