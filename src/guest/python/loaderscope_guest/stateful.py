"""torchdata's StatefulDataLoader, which accelerate also uses. Its iterators repeat PyTorch's own code. A task also
contains whether a state is wanted, and a result contains the state of the worker after the batch.

Costs of these states are reported: making them in a worker, combining and returning them in the trainer, and their
bytes."""

import functools
import os
import pickle
from types import ModuleType
from typing import Any, Callable

from loaderscope_guest import construction, import_hooks, library, messages, torch_loader
from loaderscope_guest.counters import counters
from loaderscope_guest.library import now
from loaderscope_guest.queues import Spoken
from loaderscope_guest.worker import Home

_MODULE = "torchdata.stateful_dataloader.stateful_dataloader"
_WORKER = "torchdata.stateful_dataloader.worker"
_SAY_EVERY = 500_000_000  # ns
_SIZE_EVERY = 64  # states: each of them is pickled once more, to know its size


def _first(content: Any) -> Any:
    return content[0]


_HOME = Home(_MODULE, _WORKER, Spoken(keys_of=_first, data_of=_first), reports_state=True)


class Snapshots:
    """States of the loader, as far as this process has to do with them."""

    def __init__(self) -> None:
        self.forget()
        os.register_at_fork(after_in_child=self.forget)

    def forget(self) -> None:
        self.count = 0
        self.spent = 0  # ns
        self._sized = 0
        self._bytes = 0  # bytes of the states that were sized
        self._said = 0

    def size(self, state: Any) -> None:
        """Sizes some of the counted states. The queue is about to pickle the state anyway, so pickling works."""
        if self.count > 2 and self.count % _SIZE_EVERY != 0:
            return
        with messages.never_failing("the size of a loader's state is"):
            self._bytes += len(pickle.dumps(state, pickle.HIGHEST_PROTOCOL))
            self._sized += 1

    def say(self) -> None:
        at = now()
        if library.flags.is_joined() and (self.count <= 2 or at - self._said > _SAY_EVERY):
            self._said = at
            counters.put(f"state.{library.flags.role}_s", self.spent * 1e-9, self.count)
            counters.put(f"state.{library.flags.role}_share", self.count)
            if self._sized:
                counters.put("state.bytes", self._bytes, self._sized)
            counters.send()


snapshots = Snapshots()


def _timed(original: Callable[..., Any], counts: bool = False) -> Callable[..., Any]:
    """`counts`: once per state."""

    @functools.wraps(original)
    def timed(*arguments: Any, **named: Any) -> Any:
        begun = now()
        try:
            return original(*arguments, **named)
        finally:
            snapshots.spent += now() - begun
            if counts:
                snapshots.count += 1
                snapshots.say()

    return timed


def _sized(original: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Times a worker's part of the state that is sent."""

    @functools.wraps(original)
    def generate_delta(self: Any, state: Any) -> Any:
        begun = now()
        delta = original(self, state)
        snapshots.spent += now() - begun
        snapshots.count += 1
        snapshots.size(delta)
        snapshots.say()
        return delta

    return generate_delta


# Module, class ("": none), function, what wraps it. In the trainer a state is counted where it is brought together, or,
# without workers, where the program asks for it.
_FUNCTIONS = (
    (_WORKER, "", "_make_state_dict", _timed),
    ("torchdata.stateful_dataloader.incremental_state", "_IncrementalWorkerState", "generate_delta", _sized),
    ("torchdata.stateful_dataloader.incremental_state", "_IncrementalWorkerState", "apply_delta", _timed),
    (_MODULE, "_StatefulMultiProcessingDataLoaderIter", "_get_main_state", _timed),
    (_MODULE, "_StatefulMultiProcessingDataLoaderIter", "_take_snapshot", functools.partial(_timed, counts=True)),
    (_MODULE, "_StatefulMultiProcessingDataLoaderIter", "state_dict", _timed),
    (_MODULE, "_StatefulSingleProcessDataLoaderIter", "state_dict", functools.partial(_timed, counts=True)),
)


def _time(module: ModuleType, class_name: str, name: str, wrap: Callable[[Any], Any]) -> None:
    owner = getattr(module, class_name) if class_name else module
    setattr(owner, name, wrap(getattr(owner, name)))


def install(module: ModuleType) -> None:
    construction.install(module.StatefulDataLoader)  # this class does not call the __init__ of its base class
    torch_loader.install_iterators(module, "_StatefulSingleProcessDataLoaderIter", "_StatefulMultiProcessingDataLoaderIter",
                                   _HOME)
    for name, class_name, function, wrap in _FUNCTIONS:
        import_hooks.after_import(name, functools.partial(_time, class_name=class_name, name=function, wrap=wrap))
