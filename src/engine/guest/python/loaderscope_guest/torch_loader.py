"""The hooks in torch.utils.data: what the trainer does with its DataLoader. PyTorch 1.13 and later."""

import functools
import weakref
from types import ModuleType
from typing import Any, Callable, Dict, List

from loaderscope_guest import data_identity, library, messages, overrides, pin_thread, worker
from loaderscope_guest.clock import now

FOREIGN = -2  # the number of a loader that is no DataLoader

_CUT_SHORT = ("_IterableDatasetStopIteration", "_ResumeIteration")  # no batches


class Stopped(SystemExit):
    """The measurement is over. A SystemExit, so that the script's own clean-up runs."""


class Iteration:
    """One iterator of a DataLoader that is measured: the batches dispatched and not yet taken."""

    def __init__(self, number: int, begun: int) -> None:
        self.number = number
        self.generation = 0
        self.begun = begun
        self.taken = 0
        self.order = data_identity.Order()
        self._received: Dict[int, List[int]] = {}  # by the identity of the data, which is alive

    def fact(self, kind: int, batch: int = -1, worker: int = 0, begin: int = 0, end: int = 0, cpu: int = 0,
             count: int = 0, size: int = 0) -> None:
        library.fact(kind, self.number, self.generation, worker, batch, begin, end, cpu, count, size)

    def restart(self, at: int) -> None:
        self.generation += 1
        self.taken = 0
        self.order = data_identity.Order()
        self.order = data_identity.Order()
        self._received.clear()
        self.fact(library.EPOCH, begin=at)

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


class _Loaders:
    """Which DataLoader is measured: the first one that yields, and those made anew on its data set."""

    def __init__(self) -> None:
        self._numbers: "weakref.WeakKeyDictionary[Any, int]" = weakref.WeakKeyDictionary()
        self._datasets: Dict[int, int] = {}
        self._iterators = 0
        self.chosen = -1
        self.others = 0

    def number_of(self, loader: Any) -> int:
        if loader not in self._numbers:
            number = self._datasets.get(id(loader.dataset), len(self._datasets))
            self._datasets[id(loader.dataset)] = number
            self._numbers[loader] = number
        return self._numbers[loader]

    def begin(self, loader: Any, begun: int) -> Any:
        """An Iteration, or None where this one is not to be measured."""
        number = self.number_of(loader)
        if not messages.join_as_trainer():
            return None
        if self.chosen not in (-1, number):
            self.others += 1
            library.say(what="other", loader=number)
            return None
        library.say(what="loader", iterator=self._iterators, loader=number, **describe(loader))
        return self._iteration(begun)

    def _iteration(self, begun: int) -> Iteration:
        iteration = Iteration(self._iterators, begun)
        self._iterators += 1
        iteration.fact(library.EPOCH, begin=begun)
        return iteration

    def begin_foreign(self, begun: int) -> Iteration:
        """Of a loader that is no DataLoader, which describes itself once it has given a batch."""
        self.chosen = FOREIGN
        return self._iteration(begun)

    def yields(self, loader_number: int) -> None:
        if self.chosen == -1:
            self.chosen = loader_number


loaders = _Loaders()


def _length(thing: Any) -> int:
    try:
        return len(thing)
    except Exception:
        return 0


def describe(loader: Any) -> Dict[str, Any]:
    sampler = getattr(loader, "sampler", None)
    context = getattr(loader, "multiprocessing_context", None)
    if context is None:
        import multiprocessing

        context = multiprocessing
    iterable = type(loader.dataset).__name__ == "IterableDataset" or not hasattr(loader.dataset, "__getitem__")
    return {
        "is_opaque": False,
        "num_workers": loader.num_workers,
        "prefetch_factor": getattr(loader, "prefetch_factor", None) or 0,
        "batch_size": loader.batch_size or getattr(loader.batch_sampler, "batch_size", 0) or 0,
        "pin_memory": bool(loader.pin_memory),
        "persistent_workers": bool(getattr(loader, "persistent_workers", False)),
        "in_order": bool(getattr(loader, "in_order", True)),
        "drop_last": bool(loader.drop_last),
        "shuffle": type(sampler).__name__ in ("RandomSampler", "WeightedRandomSampler")
        or bool(getattr(sampler, "shuffle", False)),
        "mp_context": context.get_start_method(),
        "samples": 0 if iterable else _length(sampler) or _length(loader.dataset),
        "dataset": type(loader.dataset).__name__,
        "sampler": type(sampler).__name__,
        "iterable": iterable,
    }


def _next(original: Callable[[Any], Any]) -> Callable[[Any], Any]:
    @functools.wraps(original)
    def __next__(self: Any) -> Any:
        iteration = self.__dict__.get("_loaderscope")
        if iteration is None:
            return original(self)
        if library.flags.must_stop():
            raise Stopped(0)
        asked = now()
        iteration.fact(library.ASK, begin=asked)
        try:
            data = original(self)
        except StopIteration:
            iteration.fact(library.ENDED, begin=asked, end=now())
            iteration.order.say(iteration)
            raise
        except Exception as error:
            messages.failed(error, self)
            raise
        batch = iteration.batch_of(data)
        iteration.fact(library.TAKE, batch, begin=now())
        if iteration.taken == 0:
            loaders.yields(self._loaderscope_loader)
        iteration.taken += 1
        return data

    return __next__


def _init(original: Callable[..., None], module: ModuleType) -> Callable[..., None]:
    """Of both kinds of iterators."""

    @functools.wraps(original)
    def __init__(self: Any, loader: Any, *more: Any, **named: Any) -> None:
        begun = now()
        self._loaderscope = loaders.begin(loader, begun)
        if self._loaderscope is None:
            original(self, loader, *more, **named)
            return
        self._loaderscope_loader = loaders.number_of(loader)
        with worker.of_iteration(module, self._loaderscope), pin_thread.of_iteration(module, self._loaderscope):
            original(self, loader, *more, **named)

    return __init__


def _reset(original: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(original)
    def _reset(self: Any, loader: Any, first_iter: bool = False) -> None:
        iteration = self.__dict__.get("_loaderscope")
        if iteration is not None and not first_iter:
            iteration.restart(now())
        if iteration is not None and first_iter and not hasattr(self, "_pin_memory_thread"):
            worker.time_receiving(self._worker_result_queue, iteration)
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


def _next_index(original: Callable[[Any], Any]) -> Callable[[Any], Any]:
    @functools.wraps(original)
    def _next_index(self: Any) -> Any:
        index = original(self)
        iteration = self.__dict__.get("_loaderscope")
        if iteration is not None:
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
    overrides.install(module.DataLoader)
