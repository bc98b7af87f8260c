"""One iterator of a loader that is measured: a training loop asks it for batches and is given them, and is ended there
once it has been measured."""

import contextlib
import signal
import threading
from typing import Any, Dict, List, Union

from loaderscope_guest import batch_work, device_copies, gpu, inject, library, messages, replay, wrong_data_samples, wrong_data_state
from loaderscope_guest.counters import counters
from loaderscope_guest.delivered import FOLLOWS, delivered
from loaderscope_guest.library import FACT, now
from loaderscope_guest.training import training


_ASKS_MORE = replay.ANY or inject.ANY or FOLLOWS  # each batch needs more work
_NO_BATCHES = ("_IterableDatasetStopIteration", "_ResumeIteration", "ExceptionWrapper")


class Iteration:
    """One iterator of a DataLoader that is measured: the batches dispatched and not yet taken."""

    def __init__(self, number: int, begun: int, loader: Any, known: Any = None) -> None:
        self.number = number
        self.workers = getattr(loader, "num_workers", 0)
        self.shuffled = wrong_data_samples.shuffles(loader)
        self.generation = 0
        self.begun = begun
        self.making = batch_work.Making(number, 0, known)  # maker of a loader without workers
        self.taken = 0
        self.batch = -1  # batch taken last
        self.is_made = False  # before it is made, it may take batches to resume after those of an earlier run
        self.order = wrong_data_samples.Order(self.shuffled)
        # Batches by the identity of their data, which is alive; a list where one object is the data of several.
        self._received: Dict[int, Union[int, List[int]]] = {}

    def fact(self, kind: int, batch: int = -1, worker: int = 0, begin: int = 0, end: int = 0, cpu: int = 0,
             count: int = 0, size: int = 0) -> None:
        library.fact(kind, self.number, self.generation, worker, batch, begin, end, cpu, count, size)

    def restart(self, at: int) -> None:
        self.generation += 1
        self.taken = 0
        self.order = wrong_data_samples.Order(self.shuffled)
        self._received.clear()
        self.fact(FACT.epoch, begin=at)

    def say_settings(self, dataset: Any) -> None:
        """Reports the values in the trainer's copy of the data set at the begin of an epoch."""
        with messages.never_failing("the data set is"):
            wrong_data_state.say_settings(dataset, iterator=self.number, generation=self.generation)

    def received(self, batch: Any, data: Any) -> None:
        if isinstance(batch, int) and type(data).__name__ not in _NO_BATCHES:
            known = self._received.setdefault(id(data), batch)
            if type(known) is list:
                known.append(batch)
            elif known is not batch:
                self._received[id(data)] = [known, batch]

    def find_batch(self, data: Any) -> int:
        """Returns the number of the batch that the trainer has received."""
        waiting = self._received.pop(id(data), None)
        if waiting is None:
            return self.taken
        if isinstance(waiting, int):
            return waiting
        batch = waiting.pop(0)
        if waiting:
            self._received[id(data)] = waiting
        return batch


def ask(iteration: Iteration) -> int:
    """When the loop asked, which ends its step."""
    return library.ask(iteration.number, iteration.generation) or end_program()


def given_again(iteration: Iteration) -> Any:
    """A batch that was delivered before, where it is its turn: see `replay`."""
    number, batch = replay.take()
    iteration.fact(FACT.replayed, number, begin=now())
    device_copies.step.begin(iteration, -1)
    delivered.add(batch, 0)
    _seldom.do(now())
    return batch


def given(iteration: Iteration, number: int, batch: Any, asked: int, with_gradients: bool = False) -> None:
    waited = library.take(iteration.number, iteration.generation, number, with_gradients | training.waits, asked)
    iteration.taken += 1
    if not training.has_begun:
        training.iteration = iteration
    if _ASKS_MORE:
        device_copies.step.taken(iteration, number)
        delivered.add(batch, waited)
        replay.taken(batch)
    else:  # the same without a call of a function
        iteration.batch = number
        device_copies.step.iteration = iteration
        delivered.count += 1
        delivered.waited = waited
        delivered.waited_for_all += waited
    if asked >= _seldom.not_before:
        _seldom.do(asked + waited)


@messages.never_failing("what a loader says of itself is")
def report_counters() -> None:
    counters.report()


class _Seldom:
    """Tasks that run only for some batches."""

    not_before = 0  # ns

    def do(self, at: int) -> None:
        begun = now()
        if at >= gpu.watch.not_before:
            gpu.watch.look(at)
        if at >= counters.not_before:
            report_counters()
        self.not_before = min(gpu.watch.not_before, counters.not_before)
        library.took(begun)


_seldom = _Seldom()


_SIGNAL = signal.SIGRTMAX - 3  # signal without a known use
_is_installed = False
_report_lock = threading.Lock()


def _stop(number: int, frame: Any) -> None:
    raise SystemExit(0)


def install_ending() -> None:
    global _is_installed
    if threading.current_thread() is threading.main_thread() and signal.getsignal(_SIGNAL) == signal.SIG_DFL:
        signal.signal(_SIGNAL, _stop)
        _is_installed = True


def end_program() -> Any:
    """Ends the program for the host, with a SystemExit, so that the script's own clean-up runs. Does not return.

    A loader may run in a thread of its own. A SystemExit there ends only that thread, and the main thread waits for a
    batch for ever. A signal then raises SystemExit in the main thread, because only a signal wakes a thread that waits
    for another. The exception is SystemExit itself, because threads print all other classes."""
    gpu.watch.finish()
    main = threading.main_thread()
    if threading.current_thread() is not main and main.is_alive() and _is_installed and _report_lock.acquire(blocking=False):
        with contextlib.suppress(OSError):  # the main thread has ended in the meantime
            signal.pthread_kill(main.ident or 0, _SIGNAL)
    raise SystemExit(0)
