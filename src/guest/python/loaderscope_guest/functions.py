"""Functions of the program's own that give a batch per call, and generators that give one each time they go on.

Whoever holds such a function goes on holding the same object: its module, another one that has imported it from there, a
closure, a class. What it runs is changed instead (`__code__`), to a call of ours, which runs what it ran before. So nothing
has to be found but the function itself, at whatever time, and in any Python from 3.8 on (sys.monitoring needs 3.12)."""

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
from loaderscope_guest.batch_sizes import samples_of

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
    # As many free variables as its closure has: they are not looked at.
    function.__code__ = code.replace(co_consts=constants, co_freevars=function.__code__.co_freevars,
                                     co_name=function.__code__.co_name)


class _Calls:
    """Of one function. Those with gradients train; those without are another loader, as that of a validation is."""

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
        return described("batch function", self._place, samples_of(first))


def is_watched(function: FunctionType) -> bool:
    return any(isinstance(constant, _Calls) for constant in function.__code__.co_consts)


def watch(function: FunctionType, place: str) -> None:
    """`place`: FILE.py:NAME, as it would be given."""
    calls = _Calls(function, place)
    function.__dict__.setdefault("__wrapped__", calls.function)  # whoever asks for its arguments is told its own
    _run_instead(function, calls)


def place_of(function: FunctionType) -> str:
    """As --batch-function would be given."""
    code = function.__code__
    file = os.path.relpath(code.co_filename, settings.STARTED_IN)
    if file.startswith(os.pardir):
        file = os.path.abspath(code.co_filename)
    return f"{file}:{function.__qualname__.rpartition('<locals>.')[2]}"


def function_with(code: Any) -> Optional[FunctionType]:
    """The one that runs it."""
    found = [holder for holder in gc.get_referrers(code) if type(holder) is FunctionType and holder.__code__ is code]
    return found[0] if len(found) == 1 else None


def _is_same_file(one: Any, other: str) -> bool:
    return isinstance(one, str) and os.path.realpath(os.path.join(settings.STARTED_IN, one)) == os.path.realpath(other)


def _file_of(module: Any) -> Any:
    """Without asking it: one that is loaded when it is asked stays as it is."""
    return module.__dict__.get("__file__") if issubclass(type(module), ModuleType) else None


def _in_modules(file: str, name: str) -> Tuple[bool, List[Any]]:
    """Whether a module of that file is loaded, and what it calls so."""
    modules = [module for module in list(sys.modules.values()) if _is_same_file(_file_of(module), file)]
    found = []
    for module in modules:
        thing: Any = module
        for part in name.split("."):
            thing = getattr(thing, part, None)
        found.append(thing.__func__ if isinstance(thing, MethodType) else thing)
    return bool(modules), [thing for thing in found if thing is not None]


def _in_functions(file: str, name: str) -> List[Any]:
    """Defined within another function: only that knows it. Objects of other types are not asked what they are."""
    return [thing for thing in gc.get_objects() if type(thing) is FunctionType
            and thing.__qualname__.endswith("<locals>." + name) and _is_same_file(thing.__code__.co_filename, file)]


def find(place: str, deeply: bool) -> Tuple[Optional[FunctionType], str]:
    """The function that FILE.py:NAME names; or None, and why: a cause and what to do. `deeply`: also within others."""
    file, _, name = place.rpartition(":")
    path = os.path.join(settings.STARTED_IN, file)
    is_loaded, found = _in_modules(path, name)
    if not found and deeply:
        found = _in_functions(path, name)
    functions = [thing for thing in found if type(thing) is FunctionType]
    if functions:
        return functions[0], ""
    if found:
        return None, f"{name} is a {type(found[0]).__name__}; name the function of {file} that calls it for a batch"
    if not is_loaded and not _in_functions(path, name):
        return None, f"the program has not loaded {file} by its first optimizer step; name the file that defines {name}"
    return None, f"{file} has no function {name}; name the one that the training loop calls for a batch"
