"""torch.compile traces a program as if it ran without us. It sees the functions themselves in place of the objects that time
them, and it does not trace our own code."""

import functools
from types import ModuleType
from typing import Any, Callable, FrozenSet, Tuple

from loaderscope_guest import import_hooks, library, messages

_ORIGINAL = "__wrapped__"  # the attribute of an object that times a function


def _kinds() -> FrozenSet[type]:
    """The two types of objects that time functions: one for methods, one for other callables."""
    return frozenset(type(library.timed(len, 0, False, False, is_method, False, None, None)) for is_method in (False, True))


_KINDS = _kinds()


def _replace_timed(timed: Any, source: Any) -> Tuple[Any, Any]:
    """The function that `timed` stands for, and its source. By its source compiled code reaches an object; it may be
    None."""
    from torch._dynamo.source import AttrSource

    return getattr(timed, _ORIGINAL), source and AttrSource(source, _ORIGINAL)


def _wrap(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def _wrap(self: Any, value: Any) -> Any:
        if type(value) in _KINDS:
            value, self.source = _replace_timed(value, self.source)
        return original(self, value)

    return _wrap


def _create(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def create(tx: Any, value: Any) -> Any:
        if type(value) in _KINDS:
            value, _ = _replace_timed(value, None)
        return original(tx, value)

    return create


def _init(original: Callable[..., None]) -> Callable[..., None]:
    """A method becomes a variable without a builder."""

    @functools.wraps(original)
    def __init__(self: Any, fn: Any, *more: Any, **named: Any) -> None:
        if type(fn) in _KINDS:
            fn, named["source"] = _replace_timed(fn, named.get("source"))
        original(self, fn, *more, **named)

    return __init__


def _hook_builder(module: ModuleType) -> None:
    module.VariableBuilder._wrap = _wrap(module.VariableBuilder._wrap)
    module.SourcelessBuilder.create = staticmethod(_create(module.SourcelessBuilder.create))


def _hook_functions(module: ModuleType) -> None:
    module.UserFunctionVariable.__init__ = _init(module.UserFunctionVariable.__init__)


def _hook_rules(module: ModuleType) -> None:
    module.add("loaderscope_guest")


_HOOKS = {
    "torch._dynamo.trace_rules": _hook_rules,
    "torch._dynamo.variables.functions": _hook_functions,
    "torch._dynamo.variables.builder": _hook_builder,
}


def _hooked(hook: Callable[[ModuleType], None], module: ModuleType) -> None:
    with messages.never_failing(f"{module.__name__}, by which torch.compile would not see what we time, is"):
        hook(module)


def install() -> None:
    for name, hook in _HOOKS.items():
        import_hooks.after_import(name, functools.partial(_hooked, hook))
