"""Begin of training: the program's work with earlier batches is not training."""

from typing import Any

from loaderscope_guest import library
from loaderscope_guest.library import FACT, now


class Training:
    def __init__(self) -> None:
        self.waits = 0  # 2: an optimizer is made, and none has made a step; else 0
        self.has_begun = False
        self.iteration: Any = None  # iteration of the batch taken last

    def has_optimizer(self) -> None:
        if not self.has_begun:
            self.waits = 2

    def begins(self) -> None:
        """Marks the begin of training, at the first step of an optimizer."""
        iteration, self.iteration = self.iteration, None
        self.has_begun, self.waits = True, 0
        if iteration is not None and library.flags.is_joined():
            iteration.fact(FACT.trained, begin=now())


training = Training()
