"""Functions that are looked into, as the rows of `stage_table` say."""

import ctypes
import functools
import gc
import sys
from types import ModuleType
from typing import Any, Callable, Dict, List, Optional

from loaderscope_guest import batch_work, held, import_hooks, inject, library, messages, user_code
from loaderscope_guest.generators import going_on
from loaderscope_guest.library import STAGES
from loaderscope_guest.stage_table import AUGMENT, COLLATE, DECODE, DECOMPRESS, READ, TABLE, Row  # noqa: F401 also for those who time

NAMES = {number: name for name, number in STAGES.items()}


def _set_in_c_type(owner: type, attribute: str, function: Callable[..., Any]) -> None:
    """setattr refuses a type that is made in C; its dictionary, which CPython looks methods up in, does not."""
    (names,) = gc.get_referents(vars(owner))
    names[attribute] = function
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(owner))  # CPython forgets what it has looked up


def _set(owner: Any, attribute: str, function: Callable[..., Any]) -> None:
    try:
        setattr(owner, attribute, function)
    except TypeError:
        if not isinstance(owner, type) or sys.implementation.name != "cpython":
            raise
        _set_in_c_type(owner, attribute, function)


def _looking_at_entries(compose: Callable[..., Any]) -> Callable[..., Any]:
    def looking(*arguments: Any, **named: Any) -> Any:
        maker = batch_work.current
        if maker is not None and not maker.is_here():  # a helper thread, and the times are those of the maker
            return compose(*arguments, **named)
        with user_code.entries_timed(arguments[0]):
            return compose(*arguments, **named)

    return looking


def _looking_at_result(function: Callable[..., Any], look: Callable[..., Any]) -> Callable[..., Any]:
    def looking(*arguments: Any, **named: Any) -> Any:
        result = function(*arguments, **named)
        with messages.never_failing(f"what {look.__name__} counts is"):
            look(result, *arguments, **named)
        return result

    return looking


def _looking_and_timing(function: Callable[..., Any], look: Callable[..., Any],
                        took: Callable[[Any, int], None]) -> Callable[..., Any]:
    def looking(*arguments: Any, **named: Any) -> Any:
        begun = library.now()
        result = function(*arguments, **named)
        time = library.now() - begun
        with messages.never_failing(f"what {look.__name__} counts is"):
            took(look(result, *arguments, **named), time)
        return result

    return looking


def _step(resume: Callable[[], Any]) -> Any:
    return resume()


def _inject(stage: str) -> None:
    inject.once_per_sample(stage, batch_work.current)


def timed(function: Callable[..., Any], stage: int, outermost: bool = False, called: str = "", has_name: bool = True,
          counts_result: bool = True, instead: Optional[Callable[..., Any]] = None,
          injects: bool = True) -> Callable[..., Any]:
    """`function`, whose time is the stage's, where the calling thread makes a batch; there `instead` is called. It is
    known as `called`. Called in the stage itself it is part of the span that runs: small calls of one stage within
    another cost little."""
    name = NAMES[stage]
    is_method = hasattr(type(function), "__get__")
    before = functools.partial(_inject, name) if inject.ANY and injects else None
    own = library.timed(function, stage, outermost, has_name, is_method, counts_result, before, instead)
    if called:
        user_code.spending.watch(name, called, own)
    return own


def _instead(function: Callable[..., Any], row: Row, called: str) -> Optional[Callable[..., Any]]:
    if row.entries:
        return _looking_at_entries(function)
    if row.steps:
        instead = row.watches(_step) if row.watches else None
        step = timed(_step, row.stage, called=called, counts_result=False, instead=instead)
        return lambda *arguments, **named: going_on(function(*arguments, **named), step)
    if row.watches:
        return row.watches(function)
    if row.looks and row.times:
        return _looking_and_timing(function, row.looks, row.times)
    return _looking_at_result(function, row.looks) if row.looks else None


def _timed_by(row: Row, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    called = "" if row.entries or row.only_in_step else row.called or f"{row.module}.{name}"
    own = timed(function, row.stage, row.outermost, called, counts_result=row.counts_result and not row.steps,
                instead=_instead(function, row, called), injects=not row.called)
    if row.step_call:
        library.set_step_call(own, row.step_call(function), row.only_in_step)
    return own


def _patch_all(module: ModuleType, rows: List[Row]) -> None:
    with held.together:
        for row in rows:
            try:
                _patch(module, row)
            except Exception as error:
                messages.degraded(f"{module.__name__} is not looked into: {error!r}")


def _patch(module: ModuleType, row: Row) -> None:
    for name in row.names.split():
        *classes, attribute = name.split(".")
        if not classes and held.must_stay(module, attribute):
            messages.degraded(f"{row.module}.{name} is not looked into: the program held it before it imported a loader")
            continue
        owner: Any = module
        for part in classes:
            owner = getattr(owner, part, None)
        function = getattr(owner, "__dict__", {}).get(attribute)
        if function is None and row.inherited:
            function = getattr(owner, attribute, None)
        if function is None:
            continue
        try:
            if isinstance(function, (classmethod, staticmethod)):
                _set(owner, attribute, type(function)(_timed_by(row, name, function.__func__)))
            else:
                timed = held.find_replacement(function) or _timed_by(row, name, function)
                _set(owner, attribute, timed)
                if owner is module:
                    held.replace(function, timed)
        except (AttributeError, TypeError, ValueError) as error:  # a type that does not let itself be changed
            messages.degraded(f"{row.module}.{name} is not looked into: {error}")


def install() -> None:
    module_rows: Dict[str, List[Row]] = {}
    for row in TABLE:
        module_rows.setdefault(row.module, []).append(row)
    with held.together:
        for module, rows in module_rows.items():
            import_hooks.after_import(module, functools.partial(_patch_all, rows=rows))
