"""The hooks in torch.utils.data: what the trainer does with its DataLoader. PyTorch 1.13 and later."""

import contextlib
import functools
import sys
from types import ModuleType
from typing import Any, Callable

from loaderscope_guest import construction, device_copies, fetcher, import_hooks, library, messages, queues, replay, worker
from loaderscope_guest.counters import counters
from loaderscope_guest.delivered import delivered, find_device, find_tensors
from loaderscope_guest.iteration import Iteration, end_program, given, given_again
from loaderscope_guest.library import FACT, now
from loaderscope_guest.loaders import loaders
from loaderscope_guest.worker import TrainerFetcher


_GIVEN = "what a DataLoader gives is"
_LOOKED_AT = 64  # iterators whose first batch is looked at


def _next(original: Callable[[Any], Any]) -> Callable[[Any], Any]:
    with_gradients = getattr(sys.modules.get("torch"), "is_grad_enabled", lambda: True)

    ask = library.ask

    @functools.wraps(original)
    def __next__(self: Any) -> Any:
        iteration = self._loaderscope
        if iteration is None:
            return original(self)
        if not iteration.is_made:
            data = original(self)
            iteration.find_batch(data)
            return data
        asked = ask(iteration.number, iteration.generation) or end_program()
        if replay.ANY and replay.is_next():
            return given_again(iteration)
        try:
            data = original(self)
        except StopIteration:
            _ended(iteration, asked)
            raise
        except BaseException as error:
            _failed(iteration, asked, error, self)
            raise
        try:
            loaders.given += 1
            batch = iteration.find_batch(data) if iteration.workers else iteration.taken
            given(iteration, batch, data, asked, with_gradients())
            if iteration.taken == 1 and iteration.number < _LOOKED_AT:
                _look_at_first(data, iteration.workers > 0)
        except Exception as error:
            messages.not_seen(_GIVEN, error)
        return data

    return __next__


_guard_batches = messages.never_failing(_GIVEN)  # guards the end; the work for each batch has a `try` of its own


@_guard_batches
def _ended(iteration: Iteration, asked: int) -> None:
    at = now()
    device_copies.step.end()
    iteration.fact(FACT.ended, begin=asked, end=at)
    delivered.waited_for_all += at - asked
    iteration.order.say(iteration)


@_guard_batches
def _failed(iteration: Iteration, asked: int, error: BaseException, iterator: Any) -> None:
    device_copies.step.end()
    iteration.fact(FACT.failed, begin=asked, end=now())
    if isinstance(error, Exception):
        messages.failed(error, iterator)


def _enter(hooked: contextlib.ExitStack, hook_iteration: Any, iteration: Iteration) -> None:
    try:
        hooked.enter_context(hook_iteration(iteration))
    except Exception as error:
        messages.degraded(f"this PyTorch is not looked into: {error!r}")


def _look_at_first(data: Any, is_of_worker: bool) -> None:
    with messages.never_failing("the device of batches is"):
        device = find_device(data)
        if not is_of_worker:
            counters.put("transport.tensors", sum(1 for _ in find_tensors(data)))
        if device != "cpu":
            messages.degraded(f"the DataLoader gives batches that are on {device} already: their copies are not seen")


def _init(original: Callable[..., None], home: worker.Home) -> Callable[..., None]:
    """Wraps the __init__ of both kinds of iterators."""
    hook_workers = functools.partial(worker.hook_iteration, home)

    @functools.wraps(original)
    def __init__(self: Any, loader: Any, *more: Any, **named: Any) -> None:
        begun, self._loaderscope = now(), None
        with messages.never_failing("a DataLoader is"):
            import_hooks.catch_up()
            self._loaderscope = loaders.begin(loader, begun)
        with contextlib.ExitStack() as hooked:
            if self._loaderscope is not None:
                _enter(hooked, hook_workers, self._loaderscope)
                with messages.never_failing("the thread that pins is"):
                    queues.watch_pinning(self)
                library.took(begun)
            original(self, loader, *more, **named)
        if self._loaderscope is not None:
            self._loaderscope.is_made = True
        if self._loaderscope is not None and hasattr(self, "_workers"):
            messages.watch_workers(self)

    return __init__


@messages.never_failing("how long batches travel is")
def _begin_epoch(iterator: Any, iteration: Iteration, loader: Any, is_first: bool) -> None:
    if not is_first:
        iteration.restart(now())
        iteration.say_settings(loader.dataset)
    elif not hasattr(iterator, "_pin_memory_thread"):
        queues.time_receiving(iterator._worker_result_queue, iteration)


def _reset(original: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(original)
    def _reset(self: Any, loader: Any, first_iter: bool = False, *more: Any, **named: Any) -> None:
        iteration = self.__dict__.get("_loaderscope")
        if iteration is not None:
            _begin_epoch(self, iteration, loader, first_iter)
        original(self, loader, first_iter, *more, **named)

    return _reset


def _get_data(original: Callable[[Any], Any], spoken: queues.Spoken) -> Callable[[Any], Any]:
    @functools.wraps(original)
    def _get_data(self: Any) -> Any:
        result = original(self)
        iteration = self.__dict__.get("_loaderscope")
        if iteration is not None:
            try:
                if isinstance(result[0], int):
                    iteration.received(result[0], spoken.data_of(result[1]))
            except Exception as error:
                messages.not_seen(_GIVEN, error)
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
            try:
                sent = now()
                library.fact(FACT.dispatched, iteration.number, iteration.generation, self._task_info[batch][0], batch,
                             at, 0, 0, 0, 0)
                library.took(sent)
            except Exception as error:
                messages.not_seen(_GIVEN, error)

    return _try_put_index


def _add_to_order(iteration: Iteration, index: Any) -> None:
    begun = now()
    iteration.order.add(iteration, index)
    library.took(begun)


def _next_index(original: Callable[[Any], Any]) -> Callable[[Any], Any]:
    choosing, chosen = library.choosing, library.chosen

    @functools.wraps(original)
    def _next_index(self: Any) -> Any:
        iteration = self._loaderscope
        if iteration is None:
            return original(self)
        begun = choosing()
        try:
            index = original(self)
        except BaseException:
            maker = self.__dict__.get("_dataset_fetcher")
            if isinstance(maker, TrainerFetcher):
                maker.end()
            raise
        try:
            chosen(iteration.number, iteration.generation, begun, iteration.workers == 0)
            if not iteration.order.is_said:
                _add_to_order(iteration, index)
        except Exception as error:
            messages.not_seen("which samples are in a batch is", error)
        return index

    return _next_index


def _wrap(module: ModuleType, class_name: str, name: str, wrap: Callable[[Any], Any]) -> None:
    owner = getattr(module, class_name, None)
    method = getattr(owner, name, None)
    if method is None:
        messages.degraded(f"this {module.__name__} has no {class_name}.{name}: what depends on it is not seen")
    else:
        setattr(owner, name, wrap(method))


def install_iterators(module: ModuleType, single: str, several: str, home: worker.Home) -> None:
    """Hooks into the iterator classes of a module: `single` has no workers, `several` has some."""
    _wrap(module, several, "_reset", _reset)
    _wrap(module, several, "_get_data", functools.partial(_get_data, spoken=home.spoken))
    _wrap(module, several, "_try_put_index", _try_put_index)
    for class_name in (single, several):
        owner = getattr(module, class_name)
        owner.__init__ = _init(owner.__init__, home)
    worker.install_in_trainer(getattr(module, single))


def install(module: ModuleType, begin_in_worker: Callable[[], None]) -> None:
    worker.install(begin_in_worker)
    construction.install(module.DataLoader)
    module._BaseDataLoaderIter._loaderscope = None  # default for iterators that are not measured
    _wrap(module, "_BaseDataLoaderIter", "__next__", _next)
    _wrap(module, "_BaseDataLoaderIter", "_next_index", _next_index)
    install_iterators(module, "_SingleProcessDataLoaderIter", "_MultiProcessingDataLoaderIter", worker.TORCH)
    fetcher.install(module)
