"""The device of our trainer: a simulated one, or none, as loaderscope's own loader has them; or a GPU."""

import ctypes
from typing import Any, Dict

from loaderscope_guest import inject, library
from loaderscope_guest.delivered import delivered, tensors_of
from loaderscope_guest.protocol import functions

# Without the interpreter's lock: these wait, and the threads of the loader must go on.
_waiting = functions(ctypes.CDLL)


class Device:
    """Steps are copied and computed in order; `in_flight` of them at once."""

    def __init__(self, trainer: Dict[str, Any]) -> None:
        self._trainer = trainer
        self._step = 0
        _waiting.device_open(trainer["device"] == "sim", trainer["own_copy_stream"], trainer["in_flight"])

    def wait_for_room(self) -> None:
        if self._step >= self._trainer["in_flight"]:
            _waiting.device_wait(self._step - self._trainer["in_flight"])
        library.collect()

    def train(self, batch: Any, size: int) -> None:
        """Submits the copy and the compute of one step."""
        trainer = self._trainer
        inject.apply("launch")
        rate = trainer["link_rate"]
        host, held, duration = 0, 0, 0
        tensor = next(tensors_of(batch), None)
        if tensor is None or tensor.device.type == "cpu":  # else there is nothing to copy
            duration = int(size / rate * 1e9) if rate > 0 else 0
            if trainer["device"] == "sim":  # the other one copies nothing
                duration += int(inject.extra("h2d") * 1e9)
            if tensor is not None:  # a pageable copy touches the bytes, of this part at least
                host, held = tensor.data_ptr(), tensor.element_size() * tensor.nelement()
        _waiting.device_copy(self._step, delivered.count - 1, host, held, duration, trainer["copied_by_caller"],
                                 trainer["sync_copies"])
        times = trainer["compute"]
        _waiting.device_compute(self._step, times[self._step % len(times)])
        library.collect()
        self._step += 1

    def finish(self) -> None:
        if self._step > 0:
            _waiting.device_wait(self._step - 1)
        library.collect()


def check(trainer: Dict[str, Any]) -> None:
    """Refuses what is not here."""
    if trainer["device"] == "cuda":
        from loaderscope_guest import torch_device

        torch_device.refuse_without_gpu()


def open_device(trainer: Dict[str, Any]) -> Any:
    if trainer["device"] != "cuda":
        return Device(trainer)
    import torch

    from loaderscope_guest import torch_device

    return torch_device.TorchDevice(trainer, torch)
