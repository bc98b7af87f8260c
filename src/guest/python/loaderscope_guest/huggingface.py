"""Data sets of Hugging Face's `datasets`: the function that a program has them call for each sample (`set_transform`,
`with_transform`) is its own, within the `read` of the data set."""

import functools
from types import ModuleType
from typing import Any, Callable, Dict

from loaderscope_guest import messages, stages, user_code

_MOST = 64  # functions; a data set makes what calls them anew for each sample
_timed: Dict[Any, Callable[..., Any]] = {}


def _timed_transform(transform: Callable[..., Any]) -> Callable[..., Any]:
    timed = _timed.get(transform)
    if timed is None:
        is_kept = len(_timed) < _MOST
        timed = stages.timed(transform, stages.AUGMENT, called=user_code.name_of(transform) if is_kept else "")
        if is_kept:
            _timed[transform] = timed
    return timed


def install(module: ModuleType) -> None:
    formatter = module.CustomFormatter
    original = formatter.__init__

    @functools.wraps(original)
    def __init__(self: Any, *arguments: Any, **named: Any) -> None:
        original(self, *arguments, **named)
        with messages.never_failing("the transform of a data set is"):
            self.transform = _timed_transform(self.transform)

    formatter.__init__ = __init__
