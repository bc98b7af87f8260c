"""Functions of modules, and who holds them. Once a module has what times a function in place of the function, pickle refuses
the function itself, because its module has another object of that name. So other modules get that object, too. If anything
else of the program holds the function, it stays in its module."""

import sys
from types import ModuleType
from typing import Any, Dict, Iterator

from loaderscope_guest import library
from loaderscope_guest.construction import is_of_python

_names_of = ModuleType.__dict__["__dict__"].__get__  # without asking a module, which may load when it is asked


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
    """Does the program hold this function of Python's own otherwise than by names in modules? Modules of other people are
    looked into when they are imported, before the program can get a function. A worker pickles no function."""
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
