"""`python -m loaderscope_guest.trainer`: takes batches from the user's own loader, or from one of a pipeline that we bring,
as a training loop does, on a device or with the user's own training step. The device is a simulated one, or none, as
loaderscope's own loader has them; or a GPU."""

import ctypes
import functools
import importlib
import os
import sys
from typing import Any, Callable, Dict

from loaderscope_guest import inject, install, interpreter, library, messages, settings, third_party_loaders
from loaderscope_guest.delivered import Handed, delivered, iterable, find_tensors
from loaderscope_guest.library import functions
from loaderscope_guest.batch_sizes import Sizes, count_samples


# Functions without the interpreter's lock: they wait, and the threads of the loader must keep running.
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
        tensor = next(find_tensors(batch), None)
        if tensor is None or tensor.device.type == "cpu":  # other tensors need no copy
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


def _check_device(trainer: Dict[str, Any]) -> None:
    """Refuses what is not here."""
    if trainer["device"] == "cuda":
        from loaderscope_guest import torch_device

        torch_device.refuse_without_gpu()


def _open_device(trainer: Dict[str, Any]) -> Any:
    if trainer["device"] != "cuda":
        return Device(trainer)
    import torch

    from loaderscope_guest import torch_device

    return torch_device.TorchDevice(trainer, torch)


def _imported(flag: str, place: str) -> Callable[..., Any]:
    """FILE.py:FUNCTION. By its own name, so that workers that are spawned can import it too."""
    file, _, name = place.rpartition(":")
    if not file.endswith(".py") or not os.path.isfile(file):
        messages.refuse(f"{flag} {place}: expected FILE.py:FUNCTION with a file that is there")
    sys.path.insert(0, os.path.dirname(os.path.abspath(file)))
    try:
        module = importlib.import_module(os.path.basename(file)[: -len(".py")])
    except ImportError as error:
        messages.refuse(f"{file}: {error} ({sys.executable}); give --python the Python that your training uses")
    function = getattr(module, name, None)
    if not callable(function):
        messages.refuse(f"{flag} {place}: {file} has no function {name}")
    return function


def _epochs(loader: Any, step: Callable[[Any], None], before: Callable[[], None], seen: Handed) -> None:
    most = settings.TRAINER["epochs"]
    epoch = 0
    while most == 0 or epoch < most:
        iterator, taken = iter(loader), 0
        while True:
            before()
            seen.asked()
            try:
                batch = next(iterator)
            except StopIteration:
                break
            except Exception as error:
                messages.failed(error, None, f", after batch {taken - 1} of epoch {epoch}" if taken else "")
                raise
            seen.given(batch)
            step(batch)
            taken += 1
        if taken == 0:
            messages.refuse(f"--loader {settings.TRAINER['loader']}: it gives no batch; look at its data set")
        seen.end_epoch()
        epoch += 1


def _pipeline(name: str, told: Any) -> Any:
    try:
        import loaderscope_pipelines as pipelines

        options = pipelines.Options(**{**told, "made": told["made"] or settings.FOLDER})
        return pipelines.pipeline_module(name).make_loader(options)
    except ImportError as error:
        messages.refuse(f"--loader {name}: {error}; give --python a Python that has it")
    except OSError as error:
        messages.refuse(f"--loader {name}: {error}")


def _maker() -> Callable[[], Any]:
    trainer = settings.TRAINER
    if trainer["pipeline"] is None:
        return _imported("--loader", trainer["loader"])
    return functools.partial(_pipeline, trainer["loader"], trainer["pipeline"])


def _wait_for_others() -> None:
    """Synchronizes with other measured processes. Waits until the starting program opens the pipe that LOADERSCOPE_GATE
    names."""
    gate = os.environ.pop("LOADERSCOPE_GATE", "")
    if gate:
        os.close(os.open(gate + ".waits", os.O_CREAT | os.O_WRONLY, 0o600))
        os.close(os.open(gate, os.O_RDONLY))


def main() -> None:
    trainer = settings.TRAINER
    if interpreter.why_not():
        messages.refuse(f"--loader {trainer['loader']}: {interpreter.why_not()}")
    install.look_into_stages()
    make = _maker()
    _wait_for_others()
    own_step = _imported("--train-step", trainer["train_step"]) if trainer["train_step"] else None
    if own_step is None:
        _check_device(trainer)
    seen = Handed()
    made = make()
    batches = iterable(made, make)
    if batches is None:
        messages.refuse(f"--loader {trainer['loader']}: what it makes, a {type(made).__name__}, gives no batches; return a "
                        "DataLoader, or a loader around one")
    loader = third_party_loaders.Watched(batches, made)
    try:
        if own_step is not None:
            _epochs(loader, own_step, lambda: None, seen)
        else:
            _train(loader, seen)
    finally:
        seen.end()


def _train(loader: Any, seen: Handed) -> None:
    """Trains on a device of loaderscope."""
    on, sizes = _open_device(settings.TRAINER), Sizes()
    try:
        _epochs(loader, lambda batch: on.train(batch, sizes.count_bytes(batch, count_samples(batch))), on.wait_for_room, seen)
    finally:
        on.finish()


if __name__ == "__main__":
    main()
