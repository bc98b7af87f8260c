"""Functions of modules, and references to them. Once an object that times a function has replaced it in its module, pickle
refuses the function itself, because its module has another object of that name. So all modules that have the function get
that object. If anything else in the program holds the function, it stays in its module."""

import sys
from types import ModuleType
from typing import Any, Dict, Iterator

from loaderscope_guest import library
from loaderscope_guest.construction import is_of_python

_names_of = ModuleType.__dict__["__dict__"].__get__  # not getattr(): a module may load others when it is asked


def _all_names() -> Iterator[Dict[str, Any]]:
    for module in list(sys.modules.values()):
        if issubclass(type(module), ModuleType):
            names = _names_of(module)
            if type(names) is dict:
                yield names


def _references(names: Dict[str, Any], name: str) -> int:
    return sys.getrefcount(names[name])


class _Held:
    pass


_BY_ONE_NAME = _references({"held": _Held()}, "held")


def must_stay(module: ModuleType, name: str) -> bool:
    """Returns True if the program holds a function of the standard library by more than the names in modules. Other modules
    are looked into when they are imported, before the program can get a function. A worker pickles no function."""
    names = _names_of(module)
    if name not in names or not is_of_python(module.__name__) or library.flags.is_worker():
        return False
    held = _references(names, name) - _BY_ONE_NAME
    return held + 1 > sum(value is names[name] for others in _all_names() for value in list(others.values()))


def replace(function: Any, timed: Any) -> None:
    """In each module that has it by a name."""
    for names in _all_names():
        for name, value in list(names.items()):
            if value is function:
                names[name] = timed
