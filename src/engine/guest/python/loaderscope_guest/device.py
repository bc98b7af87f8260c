"""The device of our trainer: the same one that loaderscope's own loader has."""

import ctypes
import os
from typing import Any, Dict

from loaderscope_guest import inject, library
from loaderscope_guest.settings import FOLDER

_L = ctypes.c_int64
# Without the GIL: these wait, and the threads of the loader must go on.
_waiting = ctypes.CDLL(os.path.join(FOLDER, "libloaderscope_guest.so"))
_waiting.lsg_device_open.argtypes = [ctypes.c_int, ctypes.c_int, _L]
_waiting.lsg_device_copy.argtypes = [_L, ctypes.c_void_p, _L, _L, ctypes.c_int, ctypes.c_int]
_waiting.lsg_device_compute.argtypes = [_L, _L]
_waiting.lsg_device_wait.argtypes = [_L]


def _first_tensor(batch: Any, depth: int = 0) -> Any:
    if callable(getattr(batch, "data_ptr", None)):
        return batch
    parts = batch.values() if isinstance(batch, dict) else batch if isinstance(batch, (list, tuple)) else ()
    for part in parts if depth < 4 else ():
        found = _first_tensor(part, depth + 1)
        if found is not None:
            return found
    return None


class Device:
    """Steps are copied and computed in order; `in_flight` of them at once."""

    def __init__(self, trainer: Dict[str, Any]) -> None:
        self._trainer = trainer
        self._step = 0
        _waiting.lsg_device_open(trainer["device"] == "sim", trainer["own_copy_stream"], trainer["in_flight"])

    def wait_for_room(self) -> None:
        if self._step >= self._trainer["in_flight"]:
            _waiting.lsg_device_wait(self._step - self._trainer["in_flight"])
        library.collect()

    def train(self, batch: Any, size: int) -> None:
        """Submits the copy and the compute of one step."""
        trainer = self._trainer
        inject.apply("launch")
        rate = trainer["link_rate"]
        duration = int(size / rate * 1e9) if rate > 0 else 0
        if trainer["device"] == "sim":  # the other one copies nothing
            duration += int(inject.extra("h2d") * 1e9)
        tensor = _first_tensor(batch)
        host, held = (tensor.data_ptr(), tensor.element_size() * tensor.nelement()) if tensor is not None else (0, 0)
        # A pageable copy touches the bytes, of the batch's largest part at least.
        _waiting.lsg_device_copy(self._step, host, held, duration, trainer["copied_by_caller"], trainer["sync_copies"])
        times = trainer["compute"]
        _waiting.lsg_device_compute(self._step, times[self._step % len(times)])
        library.collect()
        self._step += 1

    def finish(self) -> None:
        if self._step > 0:
            _waiting.lsg_device_wait(self._step - 1)
        library.collect()
