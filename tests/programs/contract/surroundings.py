"""The surroundings of a program: streams, signals, hooks of the interpreter, files."""

import builtins
import faulthandler
import gc
import inspect
import io
import os
import pathlib
import pickle
import random
import signal
import sys
import tempfile
import threading
import time
import types
import warnings

import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset

NEEDS = "torch"


def _train(workers=0):
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    losses = []
    for (batch,) in DataLoader(TensorDataset(torch.arange(32.0).reshape(8, 4)), 2, num_workers=workers):
        loss = model(batch.to("cpu")).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def losses_and_random_numbers():
    torch.manual_seed(3), random.seed(3)
    losses = _train(), _train(1)
    return losses, torch.rand(2).tolist(), random.random(), torch.get_rng_state().sum().item()


def streams_and_their_state():
    return sys.stdout.isatty(), sys.stdout.encoding, sys.stderr.errors, sys.flags.optimize, sys.argv[1:2]


def threads():
    _train(1)
    until = time.monotonic() + 10
    while threading.active_count() > 1 and time.monotonic() < until:  # the feeder of the worker's tasks may still be ending
        time.sleep(0.01)
    return [thread.name for thread in threading.enumerate()], threading.active_count()


def handlers_of_signals():
    _train(1)
    names = ("SIGINT", "SIGTERM", "SIGALRM", "SIGUSR1", "SIGUSR2", "SIGHUP", "SIGPIPE")
    return [str(signal.getsignal(getattr(signal, name))) for name in names], signal.pthread_sigmask(signal.SIG_BLOCK, [])


def hooks_of_the_interpreter():
    before = sys.excepthook
    seen = []
    sys.excepthook = lambda kind, *_: seen.append(kind.__name__)
    try:
        _train(1)
        sys.excepthook(KeyError, KeyError(1), None)
    finally:
        sys.excepthook = before
    return seen, sys.getprofile(), sys.gettrace(), faulthandler.is_enabled(), sys.unraisablehook is sys.__unraisablehook__


def folders_and_limits():
    mask = os.umask(0)
    os.umask(mask)
    return oct(mask), sys.getrecursionlimit(), sys.getswitchinterval(), os.path.basename(os.getcwd())[:9], os.cpu_count()


def warnings_that_are_recorded():
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        _train(), _train(1)
    return [str(one.message) for one in seen]


def collections_can_be_off():
    gc.disable()
    try:
        _train(1)
        return gc.isenabled()
    finally:
        gc.enable()


def files_of_a_batch():
    """The files that open() returns while a sample is made."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "file")
        path.write_bytes(bytes(range(256)) * 40)

        class Files(Dataset):
            def __len__(self):
                return 4

            def __getitem__(self, index):
                with open(path, "rb") as file, io.open(path, "rb", buffering=0) as raw, path.open("r", encoding="latin-1") as text:
                    parts = (file.read(index), file.peek(1)[:1], file.seek(5), file.readline(7), file.tell(), file.seekable(),
                             raw.read(3), raw.readinto(bytearray(4)), raw.tell(), text.read(2), isinstance(file.raw, io.FileIO),
                             isinstance(file, io.BufferedReader), file.name == path, file.mode, file.fileno() > 2)
                missing = ""
                try:
                    open(path / "none", "rb")
                except OSError as error:
                    missing = type(error).__name__
                return repr((*parts, path.read_bytes()[-2:], missing))

        return [list(DataLoader(Files(), 2, num_workers=workers)) for workers in (0, 1)]


def open_is_a_builtin():
    return (isinstance(open, types.BuiltinFunctionType), inspect.isbuiltin(open), open is builtins.open, open is io.open,
            repr(open), open.__name__, open.__qualname__, str(inspect.signature(open)), pickle.loads(pickle.dumps(open)) is open)


def classes_that_have_open():
    class Reader:
        opener = open

    with tempfile.NamedTemporaryFile() as file:
        return Reader().opener(file.name).read()


def constructors():
    return (str(inspect.signature(DataLoader)), DataLoader.__init__.__qualname__, DataLoader.__name__, DataLoader.__module__,
            inspect.isfunction(DataLoader.__init__), inspect.getsource(DataLoader.__init__).splitlines()[0])


def wrong_arguments():
    found = []
    for arguments, named in (((), {}), (([],), {"batch_size": -1}), (([1],), {"num_workers": 0, "prefetch_factor": 2}),
                             (([1],), {"nothing": 1}), (([1],), {"num_workers": -1}), ((Squares(),), {"shuffle": True})):
        try:
            found.append(list(DataLoader(*arguments, **named)))
        except Exception as error:
            found.append((type(error).__name__, str(error)))
    return found


class Squares(IterableDataset):
    def __iter__(self):
        return iter([0, 1, 4])


def tensors_and_their_subclasses():
    class Marked(torch.Tensor):
        calls = []

        @classmethod
        def __torch_function__(cls, function, kinds, arguments=(), named=None):
            cls.calls.append(getattr(function, "__name__", str(function)))
            return super().__torch_function__(function, kinds, arguments, named or {})

    tensor = torch.ones(3).as_subclass(Marked)
    tensor.to(torch.float64), tensor.to("cpu"), tensor.copy_(torch.zeros(3))
    _train()
    return Marked.calls, type(tensor.to("cpu")).__name__, torch.ones(2).to(torch.int8).dtype, torch.Tensor.to.__name__


def no_descriptor_is_safe():
    """A program closes what it does not know."""
    child = os.fork()
    if child == 0:
        os.closerange(3, 200)
        os._exit(int(sum(_train()) > -1e9))
    return os.WEXITSTATUS(os.waitpid(child, 0)[1])
