"""One iterator of a loader that is measured."""

from typing import Any, Dict, List

from loaderscope_guest import library, making, messages, wrong_data_samples, wrong_data_state
from loaderscope_guest.protocol import FACT, MESSAGE

_CUT_SHORT = ("_IterableDatasetStopIteration", "_ResumeIteration")  # no batches


class Iteration:
    """One iterator of a DataLoader that is measured: the batches dispatched and not yet taken."""

    def __init__(self, number: int, begun: int, loader: Any) -> None:
        self.number = number
        self.shuffled = wrong_data_samples.shuffles(loader)
        self.generation = 0
        self.begun = begun
        self.making = making.Making(number, 0)  # of a loader without workers
        self.taken = 0
        self.order = wrong_data_samples.Order(self.shuffled)
        self._received: Dict[int, List[int]] = {}  # by the identity of the data, which is alive

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
        """What the trainer's own copy of the data set is set to when an epoch begins."""
        with messages.never_failing("the data set is"):
            library.say(what=MESSAGE.settings, iterator=self.number, generation=self.generation,
                        values=wrong_data_state.settings_of(dataset))

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
