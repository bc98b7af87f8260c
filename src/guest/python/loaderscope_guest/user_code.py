"""Names of the user's own code, and the time of each named part of a stage."""

import contextlib
import functools
import inspect
import os
from typing import Any, Callable, Dict, Iterator, List, Tuple

from loaderscope_guest import library, messages, wrong_data_samples
from loaderscope_guest.counters import counters
from loaderscope_guest.library import now

_LONGEST = 100  # characters of a name
_MOST = 64  # names whose time is kept apart
_SAY_EVERY = 500_000_000  # ns


def _place(code: Any) -> str:
    return f" ({os.path.basename(code.co_filename)}:{code.co_firstlineno})" if code is not None else ""


def name_of(thing: Any) -> str:
    """Returns the name of a function with its place, or else of the object's class: "augment (train.py:12)",
    "ToTensor"."""
    thing = inspect.unwrap(thing) if callable(thing) else thing
    while isinstance(thing, functools.partial):
        thing = thing.func
    code = getattr(thing, "__code__", None)
    name = (thing if code is not None or isinstance(thing, type) else type(thing)).__qualname__
    return name[:_LONGEST] + _place(code)


_names: Dict[int, Tuple[Any, str]] = {}  # names of code that is often called, by the identity of the code or class


def quick_name(thing: Any) -> str:
    """Never fails."""
    try:
        own = inspect.unwrap(thing) if hasattr(thing, "__wrapped__") else thing  # all that we wrap have our code
        key = getattr(own, "__code__", own if isinstance(own, type) else type(own))
        known = _names.get(id(key))
        if known is None:
            known = _names[id(key)] = (key, name_of(thing))
        return known[1]
    except Exception:
        return type(thing).__name__


def is_stream(kind: type) -> bool:
    return any(base.__name__ == "IterableDataset" for base in kind.__mro__)


def maker_name(dataset: Any) -> str:
    """The method that makes its samples, of the innermost data set: "Photos.__getitem__ (train.py:31)"."""
    for _ in range(8):  # Subset and its like
        inner = getattr(dataset, "dataset", None)
        if inner is None or not type(dataset).__module__.startswith("torch.utils.data"):
            break
        dataset = inner
    kind = type(dataset)
    return _method_name(kind, "__getitem__" if hasattr(kind, "__getitem__") and not is_stream(kind) else "__iter__")


def _method_name(kind: type, method: str) -> str:
    code = getattr(inspect.unwrap(getattr(kind, method, None)), "__code__", None)
    return f"{kind.__qualname__}.{method}"[:_LONGEST] + _place(code)


def chooser_name(loader: Any) -> str:
    """Returns the name of the code that chooses the samples of a batch. For PyTorch's own BatchSampler, this is the
    sampler that it asks."""
    sampler = wrong_data_samples.find_batch_sampler(loader)
    if sampler is None or type(sampler).__module__.startswith("torch."):
        sampler = wrong_data_samples.find_sampler(loader)
    return _method_name(type(sampler), "__iter__")


def code_names(loader: Any) -> Dict[str, str]:
    """Returns names by stage."""
    names: Dict[str, str] = {}
    with messages.never_failing("the names of the loader's functions are"):
        names["opaque"] = maker_name(loader.dataset)
        names["collate"] = name_of(loader.collate_fn)
        names["sampler"] = chooser_name(loader)
    return names


def _nothing() -> None:
    pass


class Spending:
    """Time of this process by stage and name. It is sent to the host from time to time."""

    def __init__(self) -> None:
        self._spent: Dict[Tuple[str, str], int] = {}
        self._timed: List[Tuple[str, str, Any]] = []  # timed functions by stage and name
        self._accounts: Dict[Tuple[str, str], Any] = {}  # accounts by stage and name
        self.lines: Dict[str, int] = {}  # lines of the program, in `opaque`; a sample may be added between any two instructions
        self.not_before = 0  # ns: when it is to be said again
        # functions called before each report, the first time after the first batch
        self.also: List[Callable[[], None]] = []
        self.inside = 0  # ns of entries within the entry that runs

    def watch(self, stage: str, name: str, timed: Any) -> None:
        """Reports the time of `library.spent_by` also as time of `name`."""
        self._timed.append((stage, name, timed))

    def account(self, stage: str, name: str) -> Any:
        """Returns an object of `library.timed` that collects the time of all functions of that name. Beyond the limit
        of names, it is not reported."""
        key = (stage, name)
        account = self._accounts.get(key)
        if account is None:
            account = library.timed(_nothing, library.STAGES[stage], False, True, False, False, None, None)
            if len(self._accounts) < _MOST:
                self._accounts[key] = account
                self.watch(stage, name, account)
        return account

    def add(self, stage: str, name: str, duration: int) -> None:
        """Adds time to a name. Time of names beyond the limit is dropped."""
        key = (stage, name)
        if key in self._spent or len(self._spent) < _MOST:
            self._spent[key] = self._spent.get(key, 0) + duration

    def parts(self) -> List[Tuple[Tuple[str, str], int]]:
        """The most of all that has taken time."""
        spent = dict(self._spent)
        for stage, name, timed in self._timed:
            key = (stage, name)
            spent[key] = spent.get(key, 0) + library.spent_by(timed)
        parts = [part for part in spent.items() if part[1] > 0]
        return sorted(parts, key=lambda part: part[1], reverse=True)[:_MOST]

    @messages.never_failing("which part of the program's code takes the time is")
    def say(self, at: int) -> None:
        self.not_before = at + _SAY_EVERY
        names_by_stage: Dict[str, Dict[str, float]] = {}
        lines = sorted(list(self.lines.items()), key=lambda line: line[1], reverse=True)[:_MOST]
        for (stage, name), spent in self.parts() + [(("opaque", name), spent) for name, spent in lines]:
            names = names_by_stage.setdefault(stage, {})
            names[name] = names.get(name, 0) + spent
        for stage, names in names_by_stage.items():
            counters.put(stage, sum(names.values()), parts=names)
        try:
            for put_more in self.also:
                put_more()
        finally:
            counters.report()


spending = Spending()


def _charged(entries: Iterator[Any]) -> Iterator[Any]:
    for entry in entries:
        around, spending.inside = spending.inside, 0
        begun = now()
        yield entry
        duration = now() - begun
        spending.add("augment", quick_name(entry), duration - spending.inside)
        spending.inside = around + duration


class TimedEntries(list):
    """The entries of a Compose, which its loop calls one by one: each is charged until the loop asks for the next."""

    def __iter__(self) -> Iterator[Any]:
        return _charged(super().__iter__())

    def __getitem__(self, key: Any) -> Any:
        chosen = super().__getitem__(key)
        return TimedEntries(chosen) if isinstance(key, slice) else chosen


class TimedTuple(tuple):
    """The same for entries that a Compose keeps in a tuple."""

    def __iter__(self) -> Iterator[Any]:
        return _charged(super().__iter__())

    def __getitem__(self, key: Any) -> Any:
        chosen = super().__getitem__(key)
        return TimedTuple(chosen) if isinstance(key, slice) else chosen


_KINDS: Dict[type, type] = {list: TimedEntries, tuple: TimedTuple}


@contextlib.contextmanager
def entries_timed(compose: Any) -> Iterator[None]:
    """While it is called. One that keeps its entries otherwise stays as it is."""
    entries = compose.__dict__.get("transforms")
    kind = _KINDS.get(type(entries))
    if kind is None:
        yield
        return
    compose.__dict__["transforms"] = kind(entries)
    inside = spending.inside
    try:
        yield
    except BaseException:
        spending.inside = inside
        raise
    finally:
        compose.__dict__["transforms"] = entries
