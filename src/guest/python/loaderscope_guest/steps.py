"""The optimizer's steps until a loader has delivered a batch. The function of --batch-function is located before the
first step. Without this flag, the source of the batches is searched after a period of training. The first step with
a batch of a loader marks the begin of training."""

import functools
import inspect
from types import ModuleType
from typing import Any, Callable, Optional

from loaderscope_guest import functions, messages, settings
from loaderscope_guest.delivered import delivered
from loaderscope_guest.library import MESSAGE, now, say
from loaderscope_guest.search import Search
from loaderscope_guest.training import training

_PATIENCE = 10_000_000_000  # ns from the first step on
_STEPS = 3  # steps that are searched


class _Steps:
    def __init__(self, look_into_torch: Callable[[], None]) -> None:
        self._look_into_torch = look_into_torch
        self._is_over = False  # our hook stays: PyTorch goes through all hooks while it runs
        self._first = 0
        self._search: Optional[Search] = None
        self._searched = 0  # steps

    def hook_into(self, module: ModuleType) -> None:
        module.register_optimizer_step_post_hook(self._after_step)

    def _after_step(self, *of_optimizer: Any) -> None:
        if self._is_over:
            return
        with messages.never_failing("what gives the batches is"):
            if settings.BATCH_FUNCTION:
                self._is_over = True
                self.find_named(is_last_chance=True)
            elif delivered.count > 0:
                training.begins()
                self._stop_searching()
            else:
                self._resume()

    def find_named(self, is_last_chance: bool = False) -> None:
        function, why_not = functions.find(settings.BATCH_FUNCTION, deeply=is_last_chance)
        if function is not None:
            self._watch(function, settings.BATCH_FUNCTION)
        elif is_last_chance:
            messages.refuse(f"--batch-function {settings.BATCH_FUNCTION}: {why_not}")

    def _watch(self, function: Any, place: str) -> None:
        if not functions.is_watched(function):
            self._look_into_torch()
            functions.watch(function, place)

    def _stop_searching(self) -> None:
        self._is_over = True
        if self._search is not None:
            self._search.end()

    def _resume(self) -> None:
        self._first = self._first or now()
        if self._search is not None:
            self._searched += 1
            if self._searched > _STEPS:
                self._stop_searching()
                self._say(self._search)
        elif now() - self._first > _PATIENCE:
            self._search = Search()
            self._is_over = not self._search.begin()

    def _say(self, search: Search) -> None:
        code = search.found(_STEPS)
        function = functions.function_with(code) if code is not None else None
        place, is_measured = "", False
        if function is not None:
            place = functions.function_place(function)
            is_measured = not inspect.isgeneratorfunction(function)  # a running generator continues unchanged
        messages.join_as_trainer()
        if is_measured:
            self._watch(function, place)
        say(what=MESSAGE.maker, place=place, measured=is_measured)


def _made(original: Callable[..., None], steps: _Steps) -> Callable[..., None]:
    """Hooks into the creation of an optimizer, because the loop that calls the batch function comes after it."""

    @functools.wraps(original)
    def __init__(self: Any, *arguments: Any, **named: Any) -> None:
        original(self, *arguments, **named)
        training.has_optimizer()
        if settings.BATCH_FUNCTION:
            with messages.never_failing("the batch function is"):
                steps.find_named()

    return __init__


def install(module: ModuleType, look_into_torch: Callable[[], None]) -> None:
    steps = _Steps(look_into_torch)
    module.Optimizer.__init__ = _made(module.Optimizer.__init__, steps)
    if hasattr(module, "register_optimizer_step_post_hook"):  # available in PyTorch 2.0 and later
        steps.hook_into(module)
