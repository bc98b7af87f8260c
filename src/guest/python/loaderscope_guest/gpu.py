"""What the GPU of the training program does, as it says itself (CUPTI): watched from the first batch on that is taken
after the program has begun to use CUDA."""

import atexit
import sys
from typing import Callable

from loaderscope_guest import library, messages
from loaderscope_guest.protocol import MESSAGE
from loaderscope_guest.settings import TRAINER


def _uses_cuda() -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and torch.version.cuda is not None and torch.cuda.is_initialized()


class Watch:
    def __init__(self, uses_cuda: Callable[[], bool] = _uses_cuda) -> None:
        self._uses_cuda = uses_cuda
        self._decided = TRAINER.get("device", "script") != "script"  # a trainer of ours knows its device
        self._records = True
        self.sees = False

    def look(self) -> None:
        """Once per batch."""
        if not self._decided and self._uses_cuda():
            self._decided = True
            self._begin()
        if self.sees and self._records != library.flags.timing_wanted():
            self._records = not self._records
            library.gpu_record(int(self._records))

    def _begin(self) -> None:
        refusal = library.gpu_watch()
        if refusal is not None:
            messages.degraded(f"the GPU's own times are not seen, compute is what the host saw: {refusal.decode()}")
            return
        library.say(what=MESSAGE.gpu)
        self.sees = True
        atexit.register(self.finish)

    def finish(self) -> None:
        """What it has done is written down. Not in the child of a fork, whose GPU it is not."""
        if self.sees and library.flags.is_joined():
            library.gpu_flush()


watch = Watch()
