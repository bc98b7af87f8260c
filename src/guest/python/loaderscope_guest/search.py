"""Search for the source of a training loop's tensors, if it is not a known loader. The source is a function or
generator in the user's own files that receives no tensor and returns tensors without gradients. The search watches
the calls of the training thread for a few steps."""

import inspect
import os
import sys
import sysconfig
from types import CodeType
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from loaderscope_guest import messages
from loaderscope_guest.construction import OURS, is_in_packages
from loaderscope_guest.delivered import find_tensors
from loaderscope_guest.library import now

_LIBRARIES = tuple({sysconfig.get_paths()[name] + os.sep for name in ("stdlib", "platstdlib", "purelib", "platlib")})


def is_users(file: str) -> bool:
    return not (file.startswith(("<", OURS)) or file.startswith(_LIBRARIES) or is_in_packages(file))


def _is_batch(result: Any) -> bool:
    """Tensors with dimensions: a loss that is returned has none."""
    try:
        tensors = list(find_tensors(result))
        return any(tensor.dim() > 0 for tensor in tensors) and not any(tensor.requires_grad for tensor in tensors)
    except Exception:
        return False


def _is_given_tensors(frame: Any) -> bool:
    code, values = frame.f_code, frame.f_locals
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    try:
        return any(next(find_tensors(values.get(name)), None) is not None for name in code.co_varnames[:count])
    except Exception:
        return True


def _may_give_batches(code: CodeType) -> bool:
    """Returns false for functions without a name, and for functions that return one sample of a data set."""
    return is_users(code.co_filename) and not code.co_name.startswith(("<", "__getitem"))


class _Call(NamedTuple):
    code: CodeType
    begun: int
    ended: int

    def holds(self, other: "_Call") -> bool:
        return self is not other and self.begun <= other.begun and other.ended <= self.ended


def _group_calls(calls: List[_Call]) -> Dict[CodeType, List[_Call]]:
    groups: Dict[CodeType, List[_Call]] = {}
    for call in calls:
        groups.setdefault(call.code, []).append(call)
    return groups


class Search:
    """While it is on, every call of the thread that began it is looked at: for a few steps."""

    def __init__(self) -> None:
        self._calls: List[_Call] = []
        self._open: List[Tuple[Any, int, bool]] = []  # frames of the user's: begun, given tensors
        self._users: Dict[CodeType, bool] = {}
        self._profile = self._look  # one object, so that `is` distinguishes it from a profiler of the program
        self._is_over = False

    def begin(self) -> bool:
        """False: the thread has a profiler already, which is the program's own."""
        if sys.getprofile() is not None:
            return False
        sys.setprofile(self._profile)
        os.register_at_fork(after_in_child=self.end)
        return True

    def end(self) -> None:
        """Python lets a thread change no profiler but its own: in another one the search ends with its next call."""
        self._is_over = True
        if sys.getprofile() is self._profile:
            sys.setprofile(None)

    def _look(self, frame: Any, event: str, result: Any) -> None:
        if self._is_over:
            return self.end()
        try:
            self._note(frame, event, result)
        except Exception as error:  # the program's own call would raise it
            self.end()
            messages.not_seen("what gives the batches is", error)

    def _note(self, frame: Any, event: str, result: Any) -> None:
        if event not in ("call", "return"):
            return
        code = frame.f_code
        users = self._users.get(code)
        if users is None:
            users = self._users[code] = _may_give_batches(code)
        if not users:
            return
        if event == "call":
            is_part = bool(self._open) and self._open[-1][2]  # part of work on a batch
            self._open.append((frame, now(), is_part or _is_given_tensors(frame)))
            return
        while self._open:
            opened, begun, is_given = self._open.pop()
            if opened is frame:
                if not is_given and _is_batch(result):
                    self._calls.append(_Call(code, begun, now()))
                break

    def found(self, steps: int) -> Optional[CodeType]:
        """Returns the function that made a batch in each of `steps` steps, and is not called by another such function.
        Of several, returns the slowest."""
        often = {code for code, calls in _group_calls(self._calls).items() if len(calls) >= steps}
        calls = [call for call in self._calls if call.code in often]
        outer = _group_calls([call for call in calls if not any(other.holds(call) for other in calls)])
        if not outer:
            return None
        return max(outer, key=lambda code: sum(call.ended - call.begun for call in outer[code]))
