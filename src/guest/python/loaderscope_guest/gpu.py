"""Use of the GPU by the training program. CUPTI reports kernels and copies from the first batch that the program takes
after it has begun to use CUDA."""

import atexit
import functools
import os
import sys
from types import ModuleType
from typing import Any, Callable

from loaderscope_guest import library, messages
from loaderscope_guest.library import MESSAGE
from loaderscope_guest.settings import TRAINER


def _uses_cuda() -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and torch.version.cuda is not None and torch.cuda.is_initialized()


def _uses_gpu() -> bool:
    """Whosever: what makes it known is PyTorch's."""
    torch = sys.modules.get("torch")
    return any(kind is not None and getattr(kind, "is_initialized", bool)()
               for kind in (getattr(torch, "cuda", None), getattr(torch, "xpu", None)))


# Devices of drivers. A machine without them has no working GPU, or loads its driver on first use.
_DEVICES = ("/dev/nvidiactl", "/dev/nvhost-ctrl", "/dev/nvgpu", "/dev/dxg", "/dev/kfd", "/dev/dri")
_LOOK_EVERY = 1_000_000  # ns; whether the program has begun to use a GPU takes 1 us to ask
_LOOK_SELDOM = 1_000_000_000  # ns; without a driver
_NEVER = 1 << 62  # ns


def _has_driver() -> bool:
    return any(map(os.path.exists, _DEVICES))


class Watch:
    def __init__(self, uses_cuda: Callable[[], bool] = _uses_cuda) -> None:
        self._uses_cuda = uses_cuda
        self._decided = TRAINER.get("device", "script") != "script"  # a trainer of ours knows its device
        self._is_reported = self._decided
        self._records = True
        self.sees = False
        self._has_driver = False
        self.not_before = 0  # ns: when to look again

    def look(self, at: int = 0) -> None:
        """With a batch, `at` which it was taken."""
        try:
            self._look()
        except Exception as error:
            self._decided = self._is_reported = True
            messages.not_seen("whether the program uses a GPU is", error)
        if self._decided and self._is_reported and not self.sees:
            self.not_before = _NEVER
        else:
            self._has_driver = self._has_driver or _has_driver()  # one is loaded later, and none goes
            self.not_before = at + (_LOOK_EVERY if self.sees or self._has_driver else _LOOK_SELDOM)

    def _look(self) -> None:
        if not self._is_reported and _uses_gpu():
            self._is_reported = True
            library.say(what=MESSAGE.uses_gpu)
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

    def give_way(self) -> None:
        """To a profiler of the program's own, which takes CUPTI as if it were alone."""
        if self.sees:
            library.gpu_stop()
            library.say(what=MESSAGE.gpu_over)
        if self.sees or not self._decided:
            messages.degraded("the GPU's own times are not seen once the program's profiler has begun: from then on compute"
                              " is what the host saw")
        self._decided, self.sees = True, False

    def forget(self) -> None:
        """In the child of a fork, whose GPU it is not: CUPTI's threads are the parent's."""
        self._decided, self.sees = self._decided or self.sees, False

    def finish(self) -> None:
        """Writes down the work of the GPU so far. Libraries that end later are not watched."""
        if self.sees and library.flags.is_joined():
            library.gpu_stop()


watch = Watch()
os.register_at_fork(after_in_child=watch.forget)


def _giving_way(begin: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(begin)
    def begun(*arguments: Any, **named: Any) -> Any:
        if "CUDA" in str(arguments[1:2]):  # the activities that it is to record
            with messages.never_failing("the program's profiler is"):
                watch.give_way()
        return begin(*arguments, **named)

    return begun


def install_giving_way(profiler: ModuleType) -> None:
    for name in ("_prepare_profiler", "_enable_profiler"):
        if hasattr(profiler, name):
            setattr(profiler, name, _giving_way(getattr(profiler, name)))
