"""Functions of modules, and references to them. Once an object that times a function has replaced it in its module, pickle
refuses the function itself, because its module has another object of that name. So all modules that have the function get
that object. If anything else in the program holds the function, it stays in its module."""

import sys
from types import ModuleType
from typing import Any, Dict, Iterator, Tuple

from loaderscope_guest import library
from loaderscope_guest.construction import is_of_python

_module_names = ModuleType.__dict__["__dict__"].__get__  # not getattr(): a module may load others when it is asked


def _all_names() -> Iterator[Dict[str, Any]]:
    for module in list(sys.modules.values()):
        if issubclass(type(module), ModuleType):
            names = _module_names(module)
            if type(names) is dict:
                yield names


def _references(names: Dict[str, Any], name: str) -> int:
    return sys.getrefcount(names[name])


class _Held:
    pass


_ONE_NAME_REFERENCES = _references({"held": _Held()}, "held")


class _Replacements:
    """Functions that are replaced together, by one walk over all modules."""

    def __init__(self) -> None:
        self._depth = 0  # nesting of `with together`
        self._timed: Dict[int, Tuple[Any, Any]] = {}  # function and its replacement, by the identity of the function
        self._counts: Dict[int, int] = {}  # names in modules, by the identity of what they name; empty: not counted yet

    def __enter__(self) -> None:
        self._depth += 1

    def __exit__(self, *error: Any) -> None:
        self._depth -= 1
        if self._depth > 0:
            return
        timed, self._timed, self._counts = self._timed, {}, {}
        if not timed:
            return
        for names in _all_names():
            for name, value in list(names.items()):
                if id(value) in timed:
                    names[name] = timed[id(value)][1]

    def add(self, function: Any, timed: Any) -> None:
        with self:
            self._timed[id(function)] = function, timed

    def get(self, function: Any) -> Any:
        """Returns the replacement of a function. None: it was not added."""
        return self._timed.get(id(function), (None, None))[1]

    def count_names(self, function: Any) -> int:
        """The number of names in modules that it has."""
        if not self._counts:
            for names in _all_names():
                for value in list(names.values()):
                    self._counts[id(value)] = self._counts.get(id(value), 0) + 1
        count = self._counts.get(id(function), 0)
        if self._depth == 0:
            self._counts = {}
        return count


together = _Replacements()  # for `with`: all functions that are replaced within it, by all that `replace` is given
find_replacement = together.get
replace = together.add  # (function, timed): in each module that has it by a name


def must_stay(module: ModuleType, name: str) -> bool:
    """Returns True if the program holds a function of the standard library by more than the names in modules. Other modules
    are looked into when they are imported, before the program can get a function. A worker pickles no function."""
    names = _module_names(module)
    if name not in names or not is_of_python(module.__name__) or library.flags.is_worker():
        return False
    return _references(names, name) - _ONE_NAME_REFERENCES + 1 > together.count_names(names[name])
