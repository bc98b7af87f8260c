"""`python -m loaderscope_guest.trainer`: takes batches from the user's own DataLoader as a training loop does, on a
device, or with the user's own training step."""

import importlib
import os
import sys
from typing import Any, Callable

from loaderscope_guest import device, handed, messages, settings, sizes


def _imported(flag: str, place: str) -> Callable[..., Any]:
    """FILE.py:FUNCTION. By its own name, so that workers that are spawned can import it too."""
    file, _, name = place.rpartition(":")
    if not file.endswith(".py") or not os.path.isfile(file):
        messages.refuse(f"{flag} {place}: expected FILE.py:FUNCTION with a file that is there")
    sys.path.insert(0, os.path.dirname(os.path.abspath(file)))
    try:
        module = importlib.import_module(os.path.basename(file)[: -len(".py")])
    except ImportError as error:
        messages.refuse(f"{file}: {error}; give --python the Python that your training uses")
    function = getattr(module, name, None)
    if not callable(function):
        messages.refuse(f"{flag} {place}: {file} has no function {name}")
    return function


def _epochs(loader: Any, step: Callable[[Any], None], before: Callable[[], None], seen: handed.Handed) -> None:
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
                messages.failed(error, None, f", behind batch {taken - 1} of epoch {epoch}" if taken else "")
                raise
            seen.given(batch)
            step(batch)
            taken += 1
        if taken == 0:
            messages.refuse(f"--loader {settings.TRAINER['loader']}: its DataLoader gives no batch; look at its "
                            "data set")
        seen.end_epoch()
        epoch += 1


def _say_what_is_between(loader: Any) -> None:
    kind = sys.modules["torch.utils.data.dataloader"].DataLoader  # type: ignore[attr-defined]
    if not isinstance(loader, kind):
        messages.degraded(f"the loader is a {type(loader).__name__} around a DataLoader: what it does itself with a "
                          "batch is not seen, and counts as launch")


def main() -> None:
    trainer = settings.TRAINER
    make = _imported("--loader", trainer["loader"])
    own_step = _imported("--train-step", trainer["train_step"]) if trainer["train_step"] else None
    if own_step is None:
        device.check(trainer)
    seen = handed.Handed()
    made = make()
    place = f"--loader {trainer['loader']}"
    if "torch.utils.data.dataloader" not in sys.modules:
        messages.refuse(f"{place}: it makes no torch.utils.data.DataLoader")
    loader = handed.iterable(made, make)
    if loader is None:
        messages.refuse(f"{place}: what it makes, a {type(made).__name__}, gives no batches; return a DataLoader, or a "
                        "loader around one")
    _say_what_is_between(made)
    try:
        if own_step is not None:
            _epochs(loader, own_step, lambda: None, seen)
        else:
            _train(loader, seen)
    finally:
        seen.end()


def _train(loader: Any, seen: handed.Handed) -> None:
    """On a device of ours."""
    on = device.open_device(settings.TRAINER)
    try:
        _epochs(loader, lambda batch: on.train(batch, sizes.bytes_of(batch)), on.wait_for_room, seen)
    finally:
        on.finish()


if __name__ == "__main__":
    main()
