"""The places where the program makes its DataLoaders. Flags of loaderscope replace arguments of the program."""

import functools
import inspect
import os
import sys
from typing import Any, Dict, FrozenSet, List, NamedTuple, Tuple

from loaderscope_guest import messages
from loaderscope_guest.identity import IdentityMap
from loaderscope_guest.settings import OVERRIDES, START_FOLDER


OURS = os.path.dirname(os.path.abspath(__file__)) + os.sep


def is_in_packages(file: str) -> bool:
    return f"{os.sep}site-packages{os.sep}" in file or f"{os.sep}dist-packages{os.sep}" in file


class Place(NamedTuple):
    line: str  # FILE:LINE, of the program's own where it has one
    stack: Tuple[str, ...]  # all of them, the innermost first
    packages: Tuple[str, ...]  # packages of the functions in the stack, the innermost first
    called: str  # full name of the function that this line called; "": it made the loader itself


UNKNOWN = Place("an unknown place", (), (), "")
_MOST_PACKAGES = 16


def _list_python_modules() -> FrozenSet[str]:
    """Returns the names of Python's own modules. A Python before 3.10 does not list them."""
    names = getattr(sys, "stdlib_module_names", None)
    if names is None:
        names = [name.partition(".")[0] for name in os.listdir(os.path.dirname(os.__file__))]
    return frozenset(names)


_PYTHON_MODULES = _list_python_modules()
_NO_LIBRARIES = _PYTHON_MODULES | {"__main__", "builtins", "torch"}


def _package(module: Any) -> str:
    return str(module or "").partition(".")[0]


def is_of_python(module: str) -> bool:
    return _package(module) in _PYTHON_MODULES


def find_libraries(kind: type) -> List[str]:
    """The packages that a class and what it derives from are in, without PyTorch and Python's own."""
    packages = [_package(base.__module__) for base in kind.__mro__]
    return [name for name in dict.fromkeys(packages) if name not in _NO_LIBRARIES][:_MOST_PACKAGES]


def _torch_folder() -> str:
    file = getattr(sys.modules.get("torch"), "__file__", None)
    return os.path.dirname(file) + os.sep if file else OURS


def _called_name(frame: Any) -> str:
    """Returns the full name of a function. For a method that initialises an object, the class is in the name."""
    code = frame.f_code
    if code.co_name.strip("_") == "init" and code.co_argcount > 0:
        kind = type(frame.f_locals.get(code.co_varnames[0]))
        return f"{kind.__module__}.{kind.__qualname__}.__init__"
    return f"{frame.f_globals.get('__name__')}.{code.co_name}"


def here() -> Place:
    """Returns the caller's place outside PyTorch."""
    inner = (OURS, _torch_folder())
    stack: List[str] = []
    packages: List[str] = []
    line = called = ""
    frame: Any = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith(inner):
            stack.append(f"{name}:{frame.f_lineno}")
            packages.append(_package(frame.f_globals.get("__name__")))
            if not line and not is_in_packages(name):
                line = stack[-1]
            elif not line:
                called = _called_name(frame)
        frame = frame.f_back
    known = [package for package in dict.fromkeys(packages) if package not in _NO_LIBRARIES]
    return Place(line or (stack or [UNKNOWN.line])[0], tuple(stack), tuple(known[:_MOST_PACKAGES]), called)


_places = IdentityMap()  # places of loaders


def remember(loader: Any) -> None:
    _places.put(loader, here())


def find_place(loader: Any) -> Place:
    place: Place = _places.get(loader, UNKNOWN)
    return place


def describe_call(loader: Any) -> Dict[str, Any]:
    """Facts by which an edit of the program finds the call that made the loader."""
    place, kind = find_place(loader), type(loader)
    file, _, line = place.line.rpartition(":")
    return {
        "file": file if file.startswith("<") else os.path.join(START_FOLDER, file),
        "line": int(line) if line.isdigit() else 0,
        "made": f"{kind.__module__}.{kind.__qualname__}",
        "called": place.called,
        "python": sys.executable or "",
    }


_FLAGS = {"multiprocessing_context": "mp-context"}
_NEED_WORKERS = ("prefetch_factor", "persistent_workers", "multiprocessing_context")


def _refuse(argument: str, reason: str) -> None:
    flag = _FLAGS.get(argument, argument.replace("_", "-"))
    messages.refuse(f"{flag}: {here().line} {reason}; change it there, or leave out --{flag}")


def _refuse_what_is_fixed(given: Dict[str, Any]) -> None:
    if given.get("batch_sampler") is not None:
        for argument in ("batch_size", "shuffle", "drop_last"):
            if argument in OVERRIDES:
                _refuse(argument, "gives DataLoader a batch_sampler, which decides it")
    if "shuffle" in OVERRIDES and given.get("sampler") is not None:
        _refuse("shuffle", "gives DataLoader a sampler, which decides the order")
    if "batch_size" in OVERRIDES and given.get("batch_size", 1) is None:
        _refuse("batch_size", "makes whole batches itself (batch_size=None)")


def refuse_for(loader: Any) -> None:
    """One for which the program has made PyTorch's iterator itself, without a DataLoader."""
    for argument in OVERRIDES:
        if not isinstance(loader, sys.modules["torch.utils.data.dataloader"].DataLoader):
            _refuse(argument, f"makes PyTorch's iterator for a {type(loader).__name__}, which takes no argument of "
                              "DataLoader")


def apply(signature: inspect.Signature, given: Dict[str, Any], lacks: str) -> None:
    """Changes `given`, the arguments by name, to what the flags say. `lacks`: why there is none of that name."""
    _refuse_what_is_fixed(given)
    for argument, value in OVERRIDES.items():
        if argument not in signature.parameters:
            _refuse(argument, lacks)
        given[argument] = value
    if given.get("num_workers", 0) == 0:
        for argument in _NEED_WORKERS:
            if argument in OVERRIDES:
                _refuse(argument, "makes a DataLoader without workers (num_workers=0)")
            if argument in given and signature.parameters[argument].default is not inspect.Parameter.empty:
                del given[argument]


def install(loader: Any, lacks: str = "runs with a PyTorch that does not have it") -> None:
    """Hooks into a class of loaders."""
    original = loader.__init__
    signature = inspect.signature(original)

    @functools.wraps(original)
    def __init__(self: Any, *arguments: Any, **named: Any) -> None:
        with messages.never_failing("where a DataLoader is made is"):
            remember(self)
        if not OVERRIDES:
            return original(self, *arguments, **named)
        bound = signature.bind(self, *arguments, **named)
        apply(signature, bound.arguments, lacks)
        original(*bound.args, **bound.kwargs)

    loader.__init__ = __init__
