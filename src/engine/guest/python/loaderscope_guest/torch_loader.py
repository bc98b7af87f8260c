"""The hooks in torch.utils.data: what the trainer does with its DataLoader. PyTorch 1.13 and later."""

import contextlib
import functools
import sys
import weakref
from types import ModuleType
from typing import Any, Callable, Dict, List, NamedTuple, Tuple

from loaderscope_guest import (data_identity, dataset_values, gpu, library, messages, moves, overrides, pin_thread,
                               places, replay, threads, user_code, worker)
from loaderscope_guest.clock import now
from loaderscope_guest.delivered import delivered, device_of

FOREIGN = -2  # the number of a loader that is no DataLoader

_CUT_SHORT = ("_IterableDatasetStopIteration", "_ResumeIteration")  # no batches


class Stopped(SystemExit):
    """The measurement is over. A SystemExit, so that the script's own clean-up runs."""


class Iteration:
    """One iterator of a DataLoader that is measured: the batches dispatched and not yet taken."""

    def __init__(self, number: int, begun: int, loader: Any) -> None:
        self.number = number
        self.shuffled = data_identity.shuffles(loader)
        self.generation = 0
        self.begun = begun
        self.taken = 0
        self.order = data_identity.Order(self.shuffled)
        self._received: Dict[int, List[int]] = {}  # by the identity of the data, which is alive

    def fact(self, kind: int, batch: int = -1, worker: int = 0, begin: int = 0, end: int = 0, cpu: int = 0,
             count: int = 0, size: int = 0) -> None:
        library.fact(kind, self.number, self.generation, worker, batch, begin, end, cpu, count, size)

    def restart(self, at: int) -> None:
        self.generation += 1
        self.taken = 0
        self.order = data_identity.Order(self.shuffled)
        self._received.clear()
        self.fact(library.EPOCH, begin=at)

    def say_settings(self, dataset: Any) -> None:
        """What the trainer's own copy of the data set is set to when an epoch begins."""
        with messages.never_failing("the data set is"):
            library.say(what="settings", iterator=self.number, generation=self.generation,
                        values=dataset_values.settings_of(dataset))

    def received(self, batch: Any, data: Any) -> None:
        if isinstance(batch, int) and type(data).__name__ not in _CUT_SHORT:
            self._received.setdefault(id(data), []).append(batch)

    def batch_of(self, data: Any) -> int:
        """Which batch the trainer has got."""
        waiting = self._received.get(id(data))
        if not waiting:
            return self.taken
        batch = waiting.pop(0)
        if not waiting:
            del self._received[id(data)]
        return batch


class _Made(NamedTuple):
    loader: Any  # references that do not keep alive
    dataset: Any
    stack: Tuple[str, ...]
    alike: Tuple[Any, ...]  # what stays the same where a loader is made anew

    def succeeds(self, other: "_Made") -> bool:
        if other.loader() is not None or other.alike != self.alike:
            return False
        return other.stack == self.stack or other.dataset() is self.dataset()


def _reference(thing: Any) -> Callable[[], Any]:
    try:
        return weakref.ref(thing)
    except TypeError:
        return lambda: None


class _Loaders:
    """The program's DataLoaders by number. One that is made anew, as some programs do for each epoch, has the number
    of its predecessor."""

    def __init__(self) -> None:
        self._made: List[_Made] = []
        self._iterators = 0
        self.has_given = False  # a batch, any of them

    def number_of(self, loader: Any) -> int:
        for number, made in enumerate(self._made):
            if made.loader() is loader:
                return number
        new = _Made(_reference(loader), _reference(loader.dataset), places.of(loader).stack,
                    (type(loader.dataset), loader.num_workers, loader.batch_size))
        for number, made in enumerate(self._made):
            if new.succeeds(made):
                self._made[number] = new
                return number
        self._made.append(new)
        return len(self._made) - 1

    def begin(self, loader: Any, begun: int) -> Any:
        """An Iteration, or None where it cannot be measured."""
        try:
            number = self.number_of(loader)
            said = describe(loader)
        except Exception as error:
            messages.degraded(f"a DataLoader of {places.of(loader).line} is not looked into: {error!r}")
            return None
        if not messages.join_as_trainer():
            return None
        if self._iterators == 0:
            threads.say()
        library.say(what="loader", iterator=self._iterators, loader=number, **said)
        iteration = self._iteration(begun, loader)
        if getattr(loader, "persistent_workers", False):
            iteration.say_settings(loader.dataset)
        return iteration

    def _iteration(self, begun: int, loader: Any) -> Iteration:
        iteration = Iteration(self._iterators, begun, loader)
        self._iterators += 1
        iteration.fact(library.EPOCH, begin=begun)
        return iteration

    def begin_foreign(self, loader: Any, begun: int) -> Iteration:
        """Of a loader that is no DataLoader, which describes itself once it has given a batch."""
        return self._iteration(begun, loader)


loaders = _Loaders()


def _pins(loader: Any) -> bool:
    if not loader.pin_memory:
        return False
    torch = sys.modules["torch"]
    if getattr(torch, "accelerator", torch.cuda).is_available():
        return True
    messages.degraded("pin_memory=True does nothing here: PyTorch finds no GPU to pin for")
    return False


def describe(loader: Any) -> Dict[str, Any]:
    sampler = data_identity.sampler_of(loader)
    context = getattr(loader, "multiprocessing_context", None)
    if context is None:
        import multiprocessing

        context = multiprocessing
    iterable = user_code.is_stream(type(loader.dataset)) or not hasattr(loader.dataset, "__getitem__")
    return {
        "is_opaque": False,
        "num_workers": loader.num_workers,
        "prefetch_factor": getattr(loader, "prefetch_factor", None) or 0,
        "batch_size": loader.batch_size or getattr(loader.batch_sampler, "batch_size", 0) or 0,
        "pin_memory": _pins(loader),
        "persistent_workers": bool(getattr(loader, "persistent_workers", False)),
        "in_order": bool(getattr(loader, "in_order", True)),
        "drop_last": bool(loader.drop_last),
        "shuffle": data_identity.shuffles(loader),
        "mp_context": context.get_start_method(),
        "samples": 0 if iterable else data_identity.length_of(sampler) or data_identity.length_of(loader.dataset),
        "dataset": type(loader.dataset).__name__,
        "sampler": type(sampler).__name__,
        "place": places.of(loader).line,
        "iterable": iterable,
        "code": user_code.names_of(loader),
    }


def _next(original: Callable[[Any], Any]) -> Callable[[Any], Any]:
    with_gradients = getattr(sys.modules.get("torch"), "is_grad_enabled", lambda: True)

    @functools.wraps(original)
    def __next__(self: Any) -> Any:
        iteration = self.__dict__.get("_loaderscope")
        if iteration is None:
            return original(self)
        if library.flags.must_stop():
            gpu.watch.finish()
            raise Stopped(0)
        asked = now()
        moves.step.end()
        iteration.fact(library.ASK, begin=asked)
        if replay.is_next():
            number, data = replay.take()
            iteration.fact(library.REPLAYED, number, begin=now())
            given(iteration, -1, data, 0)
            return data
        try:
            data = original(self)
        except StopIteration:
            iteration.fact(library.ENDED, begin=asked, end=now())
            iteration.order.say(iteration)
            raise
        except Exception as error:
            messages.failed(error, self)
            raise
        batch, at = iteration.batch_of(data), now()
        iteration.fact(library.TAKE, batch, begin=at, count=int(with_gradients()))
        loaders.has_given = True
        if iteration.taken == 0:
            _look_at_first(data)
        iteration.taken += 1
        replay.taken(data)
        given(iteration, batch, data, at - asked)
        return data

    return __next__


def _enter(hooked: contextlib.ExitStack, of_iteration: Any, module: ModuleType, iteration: Iteration) -> None:
    try:
        hooked.enter_context(of_iteration(module, iteration))
    except Exception as error:
        messages.degraded(f"{of_iteration.__module__}: this PyTorch is not looked into: {error!r}")


def given(iteration: Iteration, batch: int, data: Any, waited: int) -> None:
    delivered.add(data, waited)
    gpu.watch.look()
    moves.step.begin(iteration, batch)


def _look_at_first(data: Any) -> None:
    device = device_of(data)
    if device != "cpu":
        messages.degraded(f"the DataLoader gives batches that are on {device} already: their copies are not seen")


def _init(original: Callable[..., None], module: ModuleType) -> Callable[..., None]:
    """Of both kinds of iterators."""

    @functools.wraps(original)
    def __init__(self: Any, loader: Any, *more: Any, **named: Any) -> None:
        begun = now()
        self._loaderscope = loaders.begin(loader, begun)
        with contextlib.ExitStack() as hooked:
            if self._loaderscope is not None:
                _enter(hooked, worker.of_iteration, module, self._loaderscope)
                _enter(hooked, pin_thread.of_iteration, module, self._loaderscope)
            original(self, loader, *more, **named)

    return __init__


def _time_receiving(iterator: Any, iteration: Iteration) -> None:
    try:
        worker.time_receiving(iterator._worker_result_queue, iteration)
    except AttributeError as error:
        messages.degraded(f"how long batches travel is not seen: {error!r}")


def _reset(original: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(original)
    def _reset(self: Any, loader: Any, first_iter: bool = False) -> None:
        iteration = self.__dict__.get("_loaderscope")
        if iteration is not None and not first_iter:
            iteration.restart(now())
            iteration.say_settings(loader.dataset)
        if iteration is not None and first_iter and not hasattr(self, "_pin_memory_thread"):
            _time_receiving(self, iteration)
        original(self, loader, first_iter)

    return _reset


def _get_data(original: Callable[[Any], Any]) -> Callable[[Any], Any]:
    @functools.wraps(original)
    def _get_data(self: Any) -> Any:
        result = original(self)
        iteration = self.__dict__.get("_loaderscope")
        if iteration is not None:
            iteration.received(*result)
        return result

    return _get_data


def _try_put_index(original: Callable[[Any], None]) -> Callable[[Any], None]:
    @functools.wraps(original)
    def _try_put_index(self: Any) -> None:
        iteration = self.__dict__.get("_loaderscope")
        if iteration is None:
            return original(self)
        batch, at = self._send_idx, now()
        original(self)
        if self._send_idx > batch:
            iteration.fact(library.DISPATCHED, batch, self._task_info[batch][0], begin=at)

    return _try_put_index


def _drawn(draw: Callable[[Any], Any], iterator: Any, maker: worker.InTrainer) -> Any:
    maker.begin()
    try:
        return draw(iterator)
    except BaseException:
        maker.end()
        raise


def _next_index(original: Callable[[Any], Any]) -> Callable[[Any], Any]:
    @functools.wraps(original)
    def _next_index(self: Any) -> Any:
        iteration = self.__dict__.get("_loaderscope")
        if iteration is None:
            return original(self)
        maker = self.__dict__.get("_dataset_fetcher")
        if isinstance(maker, worker.InTrainer):
            index = _drawn(original, self, maker)
        else:
            index = original(self)
        iteration.order.add(iteration, index)
        return index

    return _next_index


# Class of the iterator, its method, what wraps it.
_METHODS = (
    ("_BaseDataLoaderIter", "__next__", _next),
    ("_BaseDataLoaderIter", "_next_index", _next_index),
    ("_MultiProcessingDataLoaderIter", "_reset", _reset),
    ("_MultiProcessingDataLoaderIter", "_get_data", _get_data),
    ("_MultiProcessingDataLoaderIter", "_try_put_index", _try_put_index),
)


def install(module: ModuleType) -> None:
    overrides.install(module.DataLoader)
    for class_name, name, wrap in _METHODS:
        owner = getattr(module, class_name, None)
        method = getattr(owner, name, None)
        if method is None:
            messages.degraded(f"this PyTorch has no {class_name}.{name}: what depends on it is not seen")
        else:
            setattr(owner, name, wrap(method))
    for class_name in ("_SingleProcessDataLoaderIter", "_MultiProcessingDataLoaderIter"):
        owner = getattr(module, class_name)
        owner.__init__ = _init(owner.__init__, module)
    worker.install(module)
