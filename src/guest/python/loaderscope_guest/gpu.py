"""What the training program does with its GPU. What that computes and copies it says itself (CUPTI), watched from the
first batch on that is taken after the program has begun to use CUDA. Copies to a device that the program makes of what
it has taken are `h2d`."""

import atexit
import functools
import os
import sys
from threading import get_ident
from types import MethodType, ModuleType
from typing import Any, Callable, Optional, Tuple

from loaderscope_guest import inject, library, messages
from loaderscope_guest.delivered import delivered
from loaderscope_guest.library import FACT, MESSAGE, now
from loaderscope_guest.settings import TRAINER


def _uses_cuda() -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and torch.version.cuda is not None and torch.cuda.is_initialized()


def _uses_gpu() -> bool:
    """Whosever: what makes it known is PyTorch's."""
    torch = sys.modules.get("torch")
    return any(kind is not None and getattr(kind, "is_initialized", bool)()
               for kind in (getattr(torch, "cuda", None), getattr(torch, "xpu", None)))


_LOOK_EVERY = 1_000_000  # ns; whether the program has begun to use a GPU takes 1 us to ask


class Watch:
    def __init__(self, uses_cuda: Callable[[], bool] = _uses_cuda) -> None:
        self._uses_cuda = uses_cuda
        self._decided = TRAINER.get("device", "script") != "script"  # a trainer of ours knows its device
        self._is_told = self._decided
        self._records = True
        self.sees = False
        self.not_before = 0  # ns: when to look again

    def look(self, at: int = 0) -> None:
        """With a batch, `at` which it was taken."""
        self.not_before = at + _LOOK_EVERY
        if not self._is_told and _uses_gpu():
            self._is_told = True
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

    def finish(self) -> None:
        """What it has done is written down. Not in the child of a fork, whose GPU it is not."""
        if self.sees and library.flags.is_joined():
            library.gpu_flush()


watch = Watch()


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


Ends = Tuple[Any, Optional[str]]  # the tensor that is copied, and the kind of device it goes to


class Step:
    """From the time a batch is taken until the next one is asked for."""

    def __init__(self) -> None:
        self.iteration: Any = None  # None: there is no such step
        self.copied = 0  # ns, of all steps
        self._batch = -1
        self._thread = 0
        self._injects = False  # once per batch
        self._copies = False  # now: a tensor of a kind of its own comes back to the method from within

    def begin(self, iteration: Any, batch: int) -> None:
        self.iteration, self._batch, self._thread, self._injects = iteration, batch, get_ident(), True

    def end(self) -> None:
        self.iteration = None

    def is_here(self) -> bool:
        return self.iteration is not None and self._thread == get_ident() and not self._copies

    def copy(self, tensor: Any, make: Callable[[], Any]) -> Any:
        begun = now()
        if self._injects:
            self._injects = False
            inject.apply("h2d")
        self._copies = True
        try:
            result = make()
        finally:
            self._copies = False
        ended = now()
        self.copied += ended - begun
        self.iteration.fact(FACT.moved, self._batch, begin=begun, end=ended)
        delivered.copied(tensor, result)
        return result


step = Step()
os.register_at_fork(after_in_child=step.end)


def kind_of(device: Any) -> Optional[str]:
    """Of what stands for a device in an argument; None: it stands for something else."""
    if isinstance(device, str):
        return device.partition(":")[0]
    if type(device) is int:
        return "cuda"
    return getattr(getattr(device, "device", device), "type", None)


def _ends_of_to(tensor: Any, arguments: Any, named: Any) -> Ends:
    device = named.get("device", named.get("other", arguments[0] if arguments else None))
    return tensor, kind_of(device)


def _ends_of_cuda(tensor: Any, arguments: Any, named: Any) -> Ends:
    return tensor, "cuda"


def _ends_of_copy_(tensor: Any, arguments: Any, named: Any) -> Ends:
    return (arguments[0] if arguments else named.get("src")), tensor.device.type


def is_copy_in(tensor: Any, target: Optional[str]) -> bool:
    if target is None or target == "cpu":
        return False
    device = getattr(tensor, "device", None)
    return device is not None and device.type == "cpu"


def _blocks(arguments: Any, named: Any) -> bool:
    """By `non_blocking`, which is the first of the arguments that are true or false."""
    flags = [argument for argument in arguments if isinstance(argument, bool)]
    return not named.get("non_blocking", flags[0] if flags else False)


def _wait_for_kernels() -> None:
    """A copy that blocks waits for what was launched before it: that is training, and not the copy."""
    if not watch.sees:
        cuda = sys.modules["torch.cuda"]
        if cuda.is_initialized():
            cuda.current_stream().synchronize()


class _Moving:
    """Takes the place of a method of torch.Tensor. It equals that method: whoever looks for a method in a set of
    them, as tensor subclasses do, finds it."""

    def __init__(self, original: Any, ends: Callable[[Any, Any, Any], Ends]) -> None:
        self._original = original
        self._ends = ends
        self.__name__ = original.__name__
        self.__doc__ = original.__doc__

    def __get__(self, tensor: Any, owner: Any = None) -> Any:
        return self if tensor is None else MethodType(self, tensor)

    def __call__(self, tensor: Any, *arguments: Any, **named: Any) -> Any:
        if step.is_here():
            source, target = self._ends(tensor, arguments, named)
            if is_copy_in(source, target):
                if target == "cuda" and _blocks(arguments, named):
                    _wait_for_kernels()
                return step.copy(source, lambda: self._original(tensor, *arguments, **named))
        return self._original(tensor, *arguments, **named)

    def __eq__(self, other: Any) -> bool:
        return other is self or other is self._original

    def __hash__(self) -> int:
        return hash(self._original)

    def __reduce__(self) -> Any:
        return getattr, (sys.modules["torch"].Tensor, self.__name__)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._original, name)


_METHODS = (("to", _ends_of_to), ("cuda", _ends_of_cuda), ("copy_", _ends_of_copy_))


def install(torch: ModuleType) -> None:
    for name, ends in _METHODS:
        try:
            setattr(torch.Tensor, name, _Moving(getattr(torch.Tensor, name), ends))
        except (AttributeError, TypeError) as error:
            messages.degraded(f"copies by Tensor.{name} are not seen: {error}")
