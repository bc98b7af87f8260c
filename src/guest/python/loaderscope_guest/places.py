"""Where the program made its DataLoaders."""

import os
import sys
import weakref
from typing import Any, List, NamedTuple, Tuple

_OURS = os.path.dirname(os.path.abspath(__file__)) + os.sep
_PACKAGES = (os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep)


class Place(NamedTuple):
    line: str  # FILE:LINE, of the program's own where it has one
    stack: Tuple[str, ...]  # all of them, the innermost first


UNKNOWN = Place("an unknown place", ())


def _of_torch() -> str:
    file = getattr(sys.modules.get("torch"), "__file__", None)
    return os.path.dirname(file) + os.sep if file else _OURS


def here() -> Place:
    """Of the caller, outside PyTorch."""
    inner = (_OURS, _of_torch())
    stack: List[str] = []
    line = ""
    frame: Any = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith(inner):
            stack.append(f"{name}:{frame.f_lineno}")
            if not line and not any(packages in name for packages in _PACKAGES):
                line = stack[-1]
        frame = frame.f_back
    return Place(line or (stack or [UNKNOWN.line])[0], tuple(stack))


_places: "weakref.WeakKeyDictionary[Any, Place]" = weakref.WeakKeyDictionary()


def remember(loader: Any) -> None:
    try:
        _places[loader] = here()
    except TypeError:  # a class of the program's that has no hash
        pass


def of(loader: Any) -> Place:
    try:
        return _places.get(loader, UNKNOWN)
    except TypeError:
        return UNKNOWN
