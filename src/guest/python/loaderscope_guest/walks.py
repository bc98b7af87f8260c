"""Walks over objects of the program, such as its batches. A walk visits a bounded number of objects, and all walks of a
process share one budget of time."""

import os
from typing import Any

from loaderscope_guest.library import now

MOST = 2000  # objects that one walk visits
FEW = 16  # objects: a walk that ends within them is never left out
_PART_OF_TIME = 200  # walks take at most one 200th of the time


class Budget:
    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        self._not_before = 0  # ns

    def is_due(self) -> bool:
        """Returns True if there is time for a walk."""
        return now() >= self._not_before

    def spend(self, begun: int) -> None:
        """Ends a walk that began at `begun` (ns)."""
        ended = now()
        self._not_before = max(self._not_before, ended) + _PART_OF_TIME * (ended - begun)


def _reset_after_fork(budget: Any) -> Any:
    os.register_at_fork(after_in_child=budget.forget)
    return budget


budget = _reset_after_fork(Budget())


class Epochs(Budget):
    """Chooses the epochs of a process whose data is looked at: the first four, and then as many as there is time for."""

    _FIRST = 4

    def forget(self) -> None:
        super().forget()
        self._left = self._FIRST

    def begins(self) -> bool:
        """Returns True if the epoch that begins is looked at."""
        if self._left > 0:
            self._left -= 1
            return True
        return self.is_due()


epochs_with_draws = _reset_after_fork(Epochs())
epochs_with_settings = _reset_after_fork(Epochs())
