"""Calls of the program that decode or augment on its GPU, in a thread that trains. The kernels that a call launches
belong to its stage, and not to the training. Calls for the CPU run as if they were not looked into."""

import contextlib
import sys
from typing import Any, Callable, Dict, Tuple

from loaderscope_guest import device_copies, gpu, library, messages
from loaderscope_guest.batch_sizes import attribute
from loaderscope_guest.counters import counters
from loaderscope_guest.delivered import find_tensors
from loaderscope_guest.library import FACT, STAGES, now

_DECODE, _AUGMENT = STAGES["gpu-decode"], STAGES["gpu-augment"]
_DEVICE = 2  # position of the device in the arguments of torchvision's decode_jpeg

Arguments = Tuple[Any, ...]
Named = Dict[str, Any]


def _is_for_gpu(arguments: Arguments, named: Named) -> bool:
    """Checks the argument that names the device."""
    device = named.get("device", arguments[_DEVICE] if len(arguments) > _DEVICE else None)
    return device is not None and device_copies.find_kind(device) == "cuda"


def _unseen() -> Any:
    """The program's own classes and modes are not to see us look at their tensors."""
    core = getattr(sys.modules.get("torch"), "_C", None)
    return getattr(core, "DisableTorchFunction", contextlib.nullcontext)()


def _is_on_gpu(arguments: Arguments, named: Named) -> bool:
    """Checks the first tensor."""
    with _unseen():
        for tensor in find_tensors([arguments, named]):
            return attribute(tensor, "is_cuda") is True
    return False


def _count_images(arguments: Arguments, named: Named) -> int:
    images = arguments[0] if arguments else named.get("input", named.get("source"))
    return len(images) if isinstance(images, (list, tuple)) else 1


@messages.never_failing("a call that decodes on the GPU is")
def _say_decoded(begun: int, arguments: Arguments, named: Named) -> None:
    """The call has waited for the images, which the engines of a GPU decode without a kernel."""
    iteration, ended, images = device_copies.step.iteration, now(), _count_images(arguments, named)
    if iteration is not None:
        iteration.fact(FACT.decoded_on_gpu, begin=begun, end=ended, count=images)
    counters.add("gpu_decode.calls", 1, 1)
    counters.add("gpu_decode.images", images, 1)
    counters.add("gpu_decode.call_s", (ended - begun) * 1e-9, 1)


def _begins(stage: int, is_of_gpu: Callable[[Arguments, Named], bool], arguments: Arguments, named: Named) -> bool:
    if not gpu.watch.sees:
        return False
    try:
        return is_of_gpu(arguments, named) and library.gpu_begin_stage(stage) != 0
    except Exception as error:
        messages.not_seen("work of the loader on the GPU is", error)
        return False


def _marked(function: Callable[..., Any], stage: int,
            is_of_gpu: Callable[[Arguments, Named], bool]) -> Callable[..., Any]:
    def marked(*arguments: Any, **named: Any) -> Any:
        if not _begins(stage, is_of_gpu, arguments, named):
            return function(*arguments, **named)
        library.step(False)  # the calls and copies within it are parts of it
        begun = now()
        try:
            return function(*arguments, **named)
        finally:
            if stage == _DECODE:
                _say_decoded(begun, arguments, named)
            library.gpu_end_stage()
            library.step(device_copies.step.iteration is not None)

    return marked


def decoding(function: Callable[..., Any]) -> Callable[..., Any]:
    """A decoder with a `device`."""
    return _marked(function, _DECODE, _is_for_gpu)


def augmenting(function: Callable[..., Any]) -> Callable[..., Any]:
    """A method of a transform, which is given its samples."""
    return _marked(function, _AUGMENT, lambda arguments, named: _is_on_gpu(arguments[1:], named))
