"""Wrappers that frameworks put around a DataLoader. Their own time per batch, in the trainer's thread, belongs neither
to the loader nor to the training. Each has a row. Their waits for batches and copies to a device are reported
elsewhere."""

import functools
from types import ModuleType
from typing import Any, Callable, NamedTuple, Tuple

from loaderscope_guest import device_copies, import_hooks, library, messages
from loaderscope_guest.delivered import delivered
from loaderscope_guest.library import FACT, now
from loaderscope_guest.user_code import spending


class Row(NamedTuple):
    module: str
    names: str  # functions or CLASS.METHOD, separated by spaces
    called: str  # the framework


TABLE: Tuple[Row, ...] = (
    Row("accelerate.data_loader", "send_to_device synchronize_rng_states DataLoaderAdapter._update_state_dict "
        "DataLoaderDispatcher._fetch_batches", "accelerate"),
    Row("lightning.pytorch.loops.fetchers", "_PrefetchDataFetcher.__next__", "Lightning"),
    Row("lightning.pytorch.strategies.strategy", "Strategy.batch_to_device", "Lightning"),
    Row("pytorch_lightning.loops.fetchers", "_PrefetchDataFetcher.__next__", "Lightning"),
    Row("pytorch_lightning.strategies.strategy", "Strategy.batch_to_device", "Lightning"),
    Row("transformers.trainer", "Trainer.get_batch_samples Trainer._prepare_inputs", "transformers"),
)


class _Outermost:
    """The outermost call. A nested call is a part of it."""

    def __init__(self) -> None:
        self.runs = False

    @messages.never_failing("what a framework does is")
    def report(self, name: str, begun: int, others: int) -> None:
        """`others`: ns in which the loader was waited for, or a copy."""
        iteration, at = device_copies.step.iteration, now()
        own = at - begun - others
        if iteration is not None and own > 0 and library.flags.is_joined() and not library.flags.is_worker():
            iteration.fact(FACT.wrapped, begin=at - own, end=at)
            spending.add("launch", name, own)
            if at >= spending.not_before:
                spending.say(at)


_outermost = _Outermost()


def _other_time() -> int:
    return delivered.waited_for_all + device_copies.step.copied


def _timed(original: Callable[..., Any], name: str) -> Callable[..., Any]:
    @functools.wraps(original)
    def timed(*arguments: Any, **named: Any) -> Any:
        if _outermost.runs:
            return original(*arguments, **named)
        begun, others = now(), _other_time()
        _outermost.runs = True
        try:
            result = original(*arguments, **named)
        finally:
            _outermost.runs = False
        _outermost.report(name, begun, _other_time() - others)
        return result

    return timed


def _wrap(module: ModuleType, row: Row) -> None:
    for name in row.names.split():
        owner: Any = module
        *classes, attribute = name.split(".")
        for part in classes:
            owner = getattr(owner, part, None)
        function = getattr(owner, "__dict__", {}).get(attribute)
        if not callable(function):
            continue
        try:
            setattr(owner, attribute, _timed(function, f"{row.called}: {name.lstrip('_')}"))
        except (AttributeError, TypeError) as error:
            messages.degraded(f"{row.module}.{name} is not looked into: {error}")


def install() -> None:
    for row in TABLE:
        import_hooks.after_import(row.module, functools.partial(_wrap, row=row))
