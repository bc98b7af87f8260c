"""Copies to a device that the program makes of what it has taken: they are `h2d`, within a step."""

import contextlib
import functools
import os
import sys
import threading
from types import ModuleType
from typing import Any, Callable, Optional, Set, Tuple

from loaderscope_guest import gpu, import_hooks, inject, library, messages
from loaderscope_guest.delivered import delivered
from loaderscope_guest.library import FACT, now


_COPY = "a copy to a device is"


class Step(threading.local):
    """Period from taking a batch until the same thread asks for the next one."""

    copied = 0  # ns, of all steps and threads

    def __init__(self) -> None:
        self.iteration: Any = None  # iteration of the batch taken last; None: no batch follows
        self._injects = False  # one delay per batch
        self._copies = False  # now: a tensor of a kind of its own comes back to the method from within

    def begin(self, iteration: Any, batch: int) -> None:
        self.taken(iteration, batch)
        library.step(True)

    def taken(self, iteration: Any, batch: int) -> None:
        """The library has begun the step."""
        iteration.batch = batch
        self.iteration = iteration
        self._injects = True

    def end(self) -> None:
        self.iteration = None
        library.step(False)

    def is_here(self) -> bool:
        return self.iteration is not None and not self._copies

    def copy(self, tensor: Any, make: Callable[[], Any]) -> Any:
        begun = now()
        if self._injects:
            self._injects = False
            inject.apply("h2d")
        self._copies = True
        library.step(False)
        try:
            result = make()
        finally:
            self._copies = False
            library.step(self.iteration is not None)
        ended = now()
        try:
            Step.copied += ended - begun
            self.iteration.fact(FACT.moved, self.iteration.batch, begin=begun, end=ended)
            delivered.copied(tensor, result)
        except Exception as error:
            messages.not_seen(_COPY, error)
        return result


step = Step()
os.register_at_fork(after_in_child=step.end)

Ends = Tuple[Any, Any]  # the tensor that is copied, and what stands for the device it goes to


def find_kind(device: Any) -> Optional[str]:
    """Returns the kind of a device argument. None: the argument is not a device."""
    if isinstance(device, str):
        return device.partition(":")[0]
    if type(device) is int:
        return "cuda"
    return getattr(getattr(device, "device", device), "type", None)


def _ends_of_to(tensor: Any, arguments: Any, named: Any) -> Ends:
    return tensor, named.get("device", named.get("other", arguments[0] if arguments else None))


def _ends_of_cuda(tensor: Any, arguments: Any, named: Any) -> Ends:
    device = named.get("device", arguments[0] if arguments else None)
    return tensor, "cuda" if device is None or isinstance(device, bool) else device


def _ends_of_copy_(tensor: Any, arguments: Any, named: Any) -> Ends:
    return (arguments[0] if arguments else named.get("src")), tensor


def is_copy_in(tensor: Any, target: Optional[str]) -> bool:
    """Returns true for a copy from host memory to a device. Fake tensors of a compilation are never copied."""
    if target is None or target == "cpu" or type(tensor).__name__ == "FakeTensor":
        return False
    device = getattr(tensor, "device", None)
    return device is not None and device.type == "cpu"


_LARGEST_STAGED = 64 << 10  # bytes of a pageable tensor that CUDA takes along without waiting


def _blocks(tensor: Any, arguments: Any, named: Any) -> bool:
    """Returns true if the copy blocks. `non_blocking` is the first boolean argument. CUDA also blocks for large copies
    through its own staging memory."""
    flags = [argument for argument in arguments if isinstance(argument, bool)]
    if not named.get("non_blocking", flags[0] if flags else False):
        return True
    return tensor.element_size() * tensor.nelement() > _LARGEST_STAGED and not tensor.is_pinned()


def _wait_for_kernels(tensor: Any, device: Any, arguments: Any, named: Any) -> None:
    """A copy that blocks waits for what was launched before it: that is training, and not the copy. What is captured as
    a graph is not to be waited for."""
    cuda = sys.modules["torch.cuda"]
    if gpu.watch.sees or not cuda.is_initialized() or not _blocks(tensor, arguments, named):
        return
    if not cuda.is_current_stream_capturing():
        cuda.current_stream(getattr(device, "device", device)).synchronize()


class _Slowly:
    """A call of a method of torch.Tensor within a step, where the library cannot see that it copies nothing."""

    def __init__(self, original: Any, ends: Callable[[Any, Any, Any], Ends], torch: ModuleType) -> None:
        self._original = original
        self._ends = ends
        self._no_devices: Set[type] = {type(None), getattr(torch, "dtype", type(None))}
        # The program's own classes and modes are not to see us look at their tensors.
        self._unseen: Callable[[], Any] = getattr(getattr(torch, "_C", None), "DisableTorchFunction",
                                                  contextlib.nullcontext)

    def __call__(self, tensor: Any, *arguments: Any, **named: Any) -> Any:
        if step.is_here():
            source = self._copy_source(tensor, arguments, named, now())
            if source is not None:
                return step.copy(source, lambda: self._original(tensor, *arguments, **named))
        return self._original(tensor, *arguments, **named)

    def _copy_source(self, tensor: Any, arguments: Any, named: Any, entered: int) -> Any:
        """The tensor that goes from the host to a device, once it can; None: none does."""
        try:
            source, device = self._ends(tensor, arguments, named)
            target = None
            with self._unseen():
                if type(device) not in self._no_devices:
                    target = find_kind(device)
                is_copied = is_copy_in(source, target)
                library.took(entered)
                if is_copied and target == "cuda":
                    _wait_for_kernels(source, device, arguments, named)
            return source if is_copied else None
        except Exception as error:
            messages.not_seen(_COPY, error)
            return None


def _moving(original: Any, ends: Callable[[Any, Any, Any], Ends], torch: ModuleType, number: int) -> Any:
    """An object that replaces a method. It equals that method, and looks like it."""
    nothing = type(None)
    core = getattr(torch, "_C", None)
    tensor = torch.Tensor
    return library.moving(original, _Slowly(original, ends, torch), "is_cpu",
                          getattr(core, "_len_torch_function_stack", None), tensor,
                          getattr(getattr(torch, "nn", None), "Parameter", tensor), getattr(torch, "dtype", nothing),
                          getattr(torch, "device", nothing), number)


# the order of the library's numbers
_METHODS = (("to", _ends_of_to), ("cuda", _ends_of_cuda), ("copy_", _ends_of_copy_))


def _allow(moving: Any, rules: ModuleType) -> None:
    """torch.compile: it is to go into graphs as the method does. Versions that know no such rule trace into it."""
    allowed = getattr(rules, "_allowed_callable_ids", None)
    if allowed is not None:
        allowed.add(id(moving))


def install(torch: ModuleType) -> None:
    for number, (name, ends) in enumerate(_METHODS):
        try:
            moving = _moving(getattr(torch.Tensor, name), ends, torch, number)
            setattr(torch.Tensor, name, moving)
            import_hooks.after_import("torch._dynamo.trace_rules", functools.partial(_allow, moving))
        except (AttributeError, TypeError) as error:
            messages.degraded(f"copies by Tensor.{name} are not seen: {error}")
