"""`python -m loaderscope_guest.trainer`: takes batches from the user's own loader, or from one of a pipeline that we bring,
as a training loop does, on a device or with the user's own training step."""

import functools
import importlib
import os
import sys
from typing import Any, Callable

from loaderscope_guest import device, foreign, handed, measuring, messages, settings, sizes


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
            messages.refuse(f"--loader {settings.TRAINER['loader']}: it gives no batch; look at its data set")
        seen.end_epoch()
        epoch += 1


def _pipeline(name: str, told: Any) -> Any:
    try:
        import loaderscope_pipelines as pipelines

        options = pipelines.Options(**{**told, "made": told["made"] or settings.FOLDER})
        return pipelines.module_of(name).make_loader(options)
    except ImportError as error:
        messages.refuse(f"--loader {name}: {error}; give --python a Python that has it")
    except OSError as error:
        messages.refuse(f"--loader {name}: {error}")


def _maker() -> Callable[[], Any]:
    trainer = settings.TRAINER
    if trainer["pipeline"] is None:
        return _imported("--loader", trainer["loader"])
    return functools.partial(_pipeline, trainer["loader"], trainer["pipeline"])


def main() -> None:
    trainer = settings.TRAINER
    measuring.look_into_stages()
    make = _maker()
    own_step = _imported("--train-step", trainer["train_step"]) if trainer["train_step"] else None
    if own_step is None:
        device.check(trainer)
    seen = handed.Handed()
    made = make()
    batches = handed.iterable(made, make)
    if batches is None:
        messages.refuse(f"--loader {trainer['loader']}: what it makes, a {type(made).__name__}, gives no batches; return a "
                        "DataLoader, or a loader around one")
    loader = foreign.Watched(batches, made)
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
