"""Identity and description of each loader of the program, as reported to the host."""

import multiprocessing
import sys
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from loaderscope_guest import (construction, fastai_loader, garbage, library, library_threads, batch_work, messages, user_code,
                               walks, wrong_data_samples)
from loaderscope_guest.copied_pages import copied
from loaderscope_guest.iteration import Iteration
from loaderscope_guest.library import FACT, MESSAGE, Turn, now
from loaderscope_guest.batch_sizes import attribute, get_length, reference
from loaderscope_guest.traffic import traffic


def _pins(loader: Any) -> bool:
    if not attribute(loader, "pin_memory"):
        return False
    torch = sys.modules["torch"]
    if getattr(torch, "accelerator", torch.cuda).is_available():
        return True
    messages.degraded("pin_memory=True does nothing here: PyTorch finds no accelerator")
    return False


def _start_method(loader: Any) -> str:
    """Returns the start method of the workers. The question must not fix the method."""
    context = getattr(loader, "multiprocessing_context", None)
    if context is not None:
        return context.get_start_method()
    return multiprocessing.get_start_method(allow_none=True) or multiprocessing.get_all_start_methods()[0]


def _count(value: Any) -> int:
    """0: it is none."""
    try:
        return max(0, int(value))
    except (TypeError, ValueError, OverflowError):
        return 0


def _length(loader: Any, sampler: Any, iterable: bool) -> Dict[str, int]:
    """Returns the length of an epoch. A batch sampler that hides its sampler knows the number of its batches, and not
    of its samples. The sampler of a data set whose items are batches (batch_size=None) does not know it either."""
    if iterable:
        return {"samples": 0, "batches": 0}
    length = get_length(sampler)
    batches = wrong_data_samples.find_batch_sampler(loader)
    if length > 0 and (batches is None or sampler is batches):
        return {"samples": 0, "batches": length}
    return {"samples": length or get_length(loader.dataset), "batches": 0}


def _shards(dataset: Any) -> int:
    """Returns the shards of a stream that its workers divide, as those of `datasets` and webdataset. 0 if there are
    none."""
    shards = attribute(dataset, "num_shards")
    if type(shards) is int and shards > 0:
        return shards
    steps = attribute(dataset, "pipeline")
    if not isinstance(steps, list) or not any(attribute(step, "__name__") == "split_by_worker" for step in steps):
        return 0
    is_plain = type(steps[0]).__name__ == "SimpleShardList"  # others give shards more than once
    return get_length(attribute(steps[0], "urls")) if is_plain else 0


def describe(loader: Any) -> Dict[str, Any]:
    """A program may make PyTorch's iterators for an object of its own, which has what an iterator asks for and not all
    that a DataLoader has."""
    sampler = wrong_data_samples.find_sampler(loader)
    batches = wrong_data_samples.find_batch_sampler(loader)
    iterable = user_code.is_stream(type(loader.dataset)) or not hasattr(loader.dataset, "__getitem__")
    return {
        "is_opaque": False,
        "num_workers": _count(loader.num_workers),
        "prefetch_factor": _count(getattr(loader, "prefetch_factor", 0)),
        "batch_size": _count(attribute(loader, "batch_size"))
        or _count(attribute(batches, "batch_size")),
        "pin_memory": _pins(loader),
        "persistent_workers": bool(getattr(loader, "persistent_workers", False)),
        "in_order": bool(getattr(loader, "in_order", True)),
        "drop_last": bool(attribute(loader, "drop_last") or attribute(batches, "drop_last")),
        "shuffle": wrong_data_samples.shuffles(loader),
        "mp_context": _start_method(loader),
        **_length(loader, sampler, iterable),
        "dataset": type(loader.dataset).__name__,
        "sampler": type(sampler).__name__,
        "place": construction.find_place(loader).line,
        "call": construction.describe_call(loader),
        "made_by": construction.find_place(loader).packages,
        "data_of": construction.find_libraries(type(loader.dataset)),
        "iterable": iterable,
        "shards": _shards(loader.dataset) if iterable else 0,
        "code": user_code.code_names(loader),
        **fastai_loader.fastai_facts(loader),
    }


class _Made(NamedTuple):
    loader: Any  # references that do not keep alive
    dataset: Any
    stack: Tuple[str, ...]
    alike: Tuple[Any, ...]  # attributes that stay the same if a loader is made again

    def succeeds(self, other: "_Made") -> bool:
        if other.loader() is not None or other.alike != self.alike:
            return False
        dataset = self.dataset()
        return other.stack == self.stack or (dataset is not None and other.dataset() is dataset)


_MOST_GONE = 64  # loaders that are gone and still have numbers
_MOST_ITERATORS = (1 << 31) - 2  # iterators with numbers


class _Said(NamedTuple):
    """The description of a loader that was sent to the host with an iterator."""

    loader: Any  # a reference that does not keep it alive
    settings: Tuple[Any, ...]  # attributes that a program may change in an existing loader
    spelled: Optional[bytes]  # the message; None: it could not be made

    def again(self, iterator: int) -> Optional[bytes]:
        """Returns the message for another iterator."""
        return self.spelled and self.spelled.replace(_spelled(0), _spelled(iterator), 1)


def _spelled(iterator: int) -> bytes:
    return b'"iterator": %d,' % iterator


def _settings(loader: Any) -> Tuple[Any, ...]:
    return (loader.num_workers, attribute(loader, "prefetch_factor"), attribute(loader, "pin_memory"),
            attribute(loader, "multiprocessing_context"))


class Loaders:
    """The program's DataLoaders by number. A loader that is made again, as some programs do for each epoch, keeps the
    number of its predecessor."""

    def __init__(self) -> None:
        self._made: List[_Made] = []
        self._numbers: Dict[int, int] = {}  # numbers by identity
        self._said: Dict[int, _Said] = {}  # sent descriptions by number
        self._known: Dict[int, batch_work.Known] = {}  # shared state by number
        self._iterators = 0
        self.given = 0  # batches, by all of them together
        self._turn = Turn()

    def get_number(self, loader: Any) -> int:
        number = self._known_number(loader)
        if number is not None:
            return number
        return self._number_of_new(
            loader, _Made(reference(loader), reference(loader.dataset), construction.find_place(loader).stack,
                  (type(loader.dataset), loader.num_workers, attribute(loader, "batch_size"))))

    def number_of_foreign(self, loader: Any) -> int:
        """Returns the number of a loader that is not a DataLoader."""
        number = self._known_number(loader)
        if number is not None:
            return number
        return self._number_of_new(loader, _Made(reference(loader), lambda: None, (), (type(loader),)))

    def _known_number(self, loader: Any) -> Optional[int]:
        number = self._numbers.get(id(loader))
        return number if number is not None and self._made[number].loader() is loader else None

    def _number_of_new(self, loader: Any, new: _Made) -> int:
        number = next((number for number, made in enumerate(self._made) if new.succeeds(made)), len(self._made))
        self._made[number:number + 1] = [new]
        if len(self._numbers) >= 2 * len(self._made) + _MOST_GONE:  # removes loaders that are gone
            self._numbers = {known: at for known, at in self._numbers.items() if self._made[at].loader() is not None}
        self._numbers[id(loader)] = number
        return number

    def _spell(self, loader: Any) -> Optional[bytes]:
        """The description of a loader for its next iterator, or None if it could not be made. It is made again only if the
        budget has time for that."""
        number, settings = self.get_number(loader), _settings(loader)
        said = self._said.get(number)
        is_new = said is None or said.loader() is not loader or said.settings != settings
        if is_new:
            said = self._said[number] = _Said(reference(loader), settings, None)
        if is_new or walks.budget.is_due():
            begun = now()
            try:
                spelled = library.spelled(what=MESSAGE.loader, iterator=0, loader=number, **describe(loader))
            finally:  # also after an exception of the program's objects
                walks.budget.spend(begun)
            said = self._said[number] = _Said(reference(loader), settings, spelled)
        return said.again(self._iterators)

    def begin(self, loader: Any, begun: int) -> Any:
        """An Iteration, or None where it cannot be measured. A loader that a data set has for itself is part of it."""
        if library.flags.is_worker():
            return None
        with self._turn():
            return self._begin(loader, begun)

    def _begin(self, loader: Any, begun: int) -> Any:
        if self._iterators >= _MOST_ITERATORS:
            messages.degraded(f"iterators of DataLoaders after the first {_MOST_ITERATORS:,} are not measured")
            return None
        if construction.find_place(loader) is construction.UNKNOWN:  # no DataLoader that was made by calling its class
            construction.remember(loader)
            construction.refuse_for(loader)
        try:
            said = self._spell(loader)
        except Exception as error:
            messages.join_as_trainer()
            messages.degraded(f"a DataLoader of {construction.find_place(loader).line} is not looked into: {error!r}", loader=True)
            return None
        if said is None or not messages.join_as_trainer():
            return None
        if self._iterators == 0:
            messages.say_threads()
            garbage.watch()
            library_threads.watch()
            if loader.num_workers > 0:
                traffic.say()
        if loader.num_workers > 0:
            copied.note(loader.dataset)
        library.say_spelled(said)
        number = self.get_number(loader)
        known = self._known.get(number)
        if known is None:
            known = self._known[number] = batch_work.Known()
        iteration = self._iteration(begun, loader, known)
        if getattr(loader, "persistent_workers", False):
            iteration.say_settings(loader.dataset)
        return iteration

    def _iteration(self, begun: int, loader: Any, known: Optional[batch_work.Known] = None) -> Iteration:
        iteration = Iteration(self._iterators, begun, loader, known)
        self._iterators += 1
        iteration.fact(FACT.epoch, begin=begun)
        return iteration

    def begin_foreign(self, loader: Any, begun: int) -> Iteration:
        """Begins an iteration of a loader that is not a DataLoader. It describes itself once it has delivered a batch."""
        with self._turn():
            return self._iteration(begun, loader)


loaders = Loaders()
