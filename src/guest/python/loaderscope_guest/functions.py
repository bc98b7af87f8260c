"""Functions of the program that return a batch per call, and generators that yield one per step.

All holders of such a function keep the same object: its module, a module that has imported it, a closure, a class. Its
code (`__code__`) is replaced by a call of loaderscope, which runs the old code. Only the function itself must be found.
This works at any time, and in all versions since Python 3.8 (sys.monitoring needs 3.12)."""

import functools
import gc
import inspect
import os
import sys
from types import FunctionType, MethodType, ModuleType
from typing import Any, Callable, Dict, List, Optional, Tuple

from loaderscope_guest import settings
from loaderscope_guest.generators import going_on
from loaderscope_guest.loaders import loaders
from loaderscope_guest.opaque import Opaque, described, is_counted
from loaderscope_guest.batch_sizes import count_samples

_MARK = "what is called instead"


def _instead(*arguments: Any, **named: Any) -> Any:
    call: Any = "what is called instead"  # _MARK, which is a constant of this code
    return call(*arguments, **named)


def _copy(function: FunctionType) -> FunctionType:
    copy = FunctionType(function.__code__, function.__globals__, function.__name__, function.__defaults__,
                        function.__closure__)
    copy.__kwdefaults__ = function.__kwdefaults__
    copy.__qualname__ = function.__qualname__
    return copy


def _run_instead(function: FunctionType, call: Callable[..., Any]) -> None:
    code = _instead.__code__
    constants = tuple(call if constant == _MARK else constant for constant in code.co_consts)
    # The new code needs the same number of free variables as the closure.
    function.__code__ = code.replace(co_consts=constants, co_freevars=function.__code__.co_freevars,
                                     co_name=function.__code__.co_name)


class _Calls:
    """Calls of one function. Calls with gradients train. Calls without are another loader, such as a validation's."""

    def __init__(self, function: FunctionType, place: str) -> None:
        self.function = _copy(function)
        self._gives_many = inspect.isgeneratorfunction(function)
        self._place = place
        self._torch = sys.modules.get("torch")
        self._opaques: Dict[bool, Opaque] = {}

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        if not is_counted():
            return self.function(*arguments, **named)
        if self._gives_many:
            opaque = self._opaque()
            opaque.begin_epoch()
            return going_on(self.function(*arguments, **named), opaque.take)
        return self._opaque().take(functools.partial(self.function, *arguments, **named))

    def _opaque(self) -> Opaque:
        trains = self._torch is None or self._torch.is_grad_enabled()
        opaque = self._opaques.get(trains)
        if opaque is None:
            loader = functools.partial(self.function)  # an object that stands for these calls
            opaque = self._opaques[trains] = Opaque(loader, self._describe, f"--batch-function {self._place}", loaders.given)
        return opaque

    def _describe(self, first: Any) -> Dict[str, Any]:
        return described("batch function", self._place, count_samples(first))


def is_watched(function: FunctionType) -> bool:
    return any(isinstance(constant, _Calls) for constant in function.__code__.co_consts)


def watch(function: FunctionType, place: str) -> None:
    """`place`: FILE.py:NAME, as it would be given."""
    calls = _Calls(function, place)
    function.__dict__.setdefault("__wrapped__", calls.function)  # inspect shows the original arguments
    _run_instead(function, calls)


def function_place(function: FunctionType) -> str:
    """Returns the place in the form of --batch-function."""
    code = function.__code__
    file = os.path.relpath(code.co_filename, settings.START_FOLDER)
    if file.startswith(os.pardir):
        file = os.path.abspath(code.co_filename)
    return f"{file}:{function.__qualname__.rpartition('<locals>.')[2]}"


def function_with(code: Any) -> Optional[FunctionType]:
    """The one that runs it."""
    found = [holder for holder in gc.get_referrers(code) if type(holder) is FunctionType and holder.__code__ is code]
    return found[0] if len(found) == 1 else None


def _is_same_file(one: Any, other: str) -> bool:
    return isinstance(one, str) and os.path.realpath(os.path.join(settings.START_FOLDER, one)) == os.path.realpath(other)


def _module_file(module: Any) -> Any:
    """Returns the file of a module without attribute access, so that a lazy module stays unloaded."""
    return module.__dict__.get("__file__") if issubclass(type(module), ModuleType) else None


def _find_in_modules(file: str, name: str) -> Tuple[bool, List[Any]]:
    """Returns whether a module of that file is loaded, and the objects with this name."""
    modules = [module for module in list(sys.modules.values()) if _is_same_file(_module_file(module), file)]
    found = []
    for module in modules:
        thing: Any = module
        for part in name.split("."):
            thing = getattr(thing, part, None)
        found.append(thing.__func__ if isinstance(thing, MethodType) else thing)
    return bool(modules), [thing for thing in found if thing is not None]


def _find_functions(file: str, name: str) -> List[Any]:
    """Defined within another function: only that knows it. Objects of other types are not asked what they are."""
    return [thing for thing in gc.get_objects() if type(thing) is FunctionType
            and thing.__qualname__.endswith("<locals>." + name) and _is_same_file(thing.__code__.co_filename, file)]


def find(place: str, deeply: bool) -> Tuple[Optional[FunctionType], str]:
    """The function that FILE.py:NAME names; or None, and why: a cause and what to do. `deeply`: also within others."""
    file, _, name = place.rpartition(":")
    path = os.path.join(settings.START_FOLDER, file)
    is_loaded, found = _find_in_modules(path, name)
    if not found and deeply:
        found = _find_functions(path, name)
    functions = [thing for thing in found if type(thing) is FunctionType]
    if functions:
        return functions[0], ""
    if found:
        return None, f"{name} is a {type(found[0]).__name__}; name the function of {file} that calls it for a batch"
    if not is_loaded and not _find_functions(path, name):
        return None, f"the program has not loaded {file} by its first optimizer step; name the file that defines {name}"
    return None, f"{file} has no function {name}; name the one that the training loop calls for a batch"
