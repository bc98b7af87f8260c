"""Training programs that end badly, or do to their process what a measurement does not expect, each a function:
bad_ends.py NAME [WORKERS]."""

import ctypes
import itertools
import json
import os
import resource
import signal
import sys
import tempfile
import threading
import time

import torch
from torch.utils.data import DataLoader, get_worker_info

from jobs import Sleeping


class Breaks(Sleeping):
    """Sample 60 of a worker, or of a trainer without workers, does something else."""

    def __init__(self, does):
        super().__init__(samples=240, seconds=0.001)
        self.does = does

    def __getitem__(self, index):
        if index == 60:
            self.does()
        return super().__getitem__(index)


def train(loader, most=None):
    for number, _ in enumerate(loader):
        time.sleep(0.001)
        if number == most:
            break


def raise_it(text):
    raise ValueError(text)


def kill_trainer():
    os.kill(os.getppid() if get_worker_info() else os.getpid(), signal.SIGKILL)


def failing_collate(workers):
    train(DataLoader(Sleeping(), 8, num_workers=workers, collate_fn=lambda samples: raise_it("samples do not fit")))


class Rotten(Sleeping):
    def __init__(self):
        raise FileNotFoundError("/data/train is not there")


def failing_constructor(workers):
    train(DataLoader(Rotten(), 8, num_workers=workers))


def failing_worker_init(workers):
    train(DataLoader(Sleeping(), 8, num_workers=workers, worker_init_fn=lambda number: raise_it("no such device")))


def failing_import(workers):
    import no_such_module_at_all  # noqa: F401


def failing_training(workers):
    for number, _ in enumerate(DataLoader(Sleeping(), 8, num_workers=workers)):
        if number == 10:
            raise RuntimeError("CUDA error: out of memory")


def caught_sample_error(workers):
    """Trains again after the error, and ends well."""
    loader = DataLoader(Breaks(lambda: raise_it("sample 60 is rotten")), 8, num_workers=workers)
    try:
        train(loader)
    except ValueError:
        train(DataLoader(Sleeping(), 8, num_workers=workers))


def worker_exits(workers):
    train(DataLoader(Breaks(lambda: os._exit(3)), 8, num_workers=workers))


def trainer_is_killed(workers):
    train(DataLoader(Breaks(kill_trainer), 8, num_workers=workers))


def exits_with_7(workers):
    train(DataLoader(Sleeping(), 8, num_workers=workers), most=12)
    sys.exit(7)


def goes_at_once(workers):
    """Without a word to anybody, workers and all."""
    train(DataLoader(Sleeping(), 8, num_workers=workers), most=12)
    os._exit(0)


def _write_when_done(path):
    with open(path, "w") as file:
        file.write("done")


def daemonises(workers):
    """Trains in a process that no other process waits for, longer than any wait for last words."""
    if os.fork() > 0:
        os._exit(0)
    os.setsid()
    if os.fork() > 0:
        os._exit(0)
    train(DataLoader(Sleeping(seconds=0.05), 8, num_workers=workers))
    time.sleep(5)
    _write_when_done(os.environ["JOB_FILE"])
    os._exit(0)


def leaves_a_saver(workers):
    """Ends while a child still saves the result."""
    train(DataLoader(Sleeping(seconds=0.001), 8, num_workers=workers))
    if os.fork() == 0:
        time.sleep(5)
        _write_when_done(os.environ["JOB_FILE"])
        os._exit(0)
    os._exit(0)


def cannot_join(workers):
    """One of its workers may open no file more. What it would import is there already."""
    import numpy.random  # noqa: F401

    forks = itertools.count()

    def forbid_files():
        if next(forks) == 0:
            resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))

    def count_fork():
        next(forks)

    os.register_at_fork(after_in_child=forbid_files, after_in_parent=count_fork)
    train(DataLoader(Sleeping(seconds=0.001), 8, num_workers=workers, collate_fn=len))


def writes_over_our_page(workers):
    """Overwrites the shared page like a wild pointer."""
    loader = DataLoader(Sleeping(seconds=0.001), 8, num_workers=workers)
    for number, _ in enumerate(loader):
        if number == 20:
            with open("/proc/self/maps") as maps:
                page = next(line for line in maps if "memfd:loaderscope" in line)
            ctypes.memset(int(page.partition("-")[0], 16), 0xFF, 1 << 20)
    print(json.dumps({"batches": number + 1}), file=sys.stderr, flush=True)


def prints_much(workers):
    for _ in range(200):
        sys.stdout.write("x" * 999 + "\n")
    for _ in DataLoader(Sleeping(seconds=0.001), 8, num_workers=workers):
        sys.stdout.write(("y" * 9999 + "\n") * 200)


def closes_files(workers):
    """Closes all files from 3 on like a daemon, then trains, twice."""
    os.closerange(3, 256)
    train(DataLoader(Sleeping(), 8, num_workers=workers), most=12)
    train(DataLoader(Sleeping(), 8, num_workers=workers), most=12)


def closes_files_later(workers):
    loader = DataLoader(Sleeping(), 8, num_workers=0)
    for number, _ in enumerate(loader):
        if number == 10:
            os.closerange(3, 256)


def changes_folder(workers):
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        train(DataLoader(Sleeping(seconds=0.001), 8, num_workers=workers))
        os.chdir("/")


def changes_tmpdir(workers):
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TMPDIR"] = folder
        tempfile.tempdir = None
        train(DataLoader(Sleeping(seconds=0.001), 8, num_workers=workers, multiprocessing_context="forkserver"))


def clears_environment(workers):
    """Workers that are spawned start with nothing of ours."""
    for name in list(os.environ):
        if name not in ("PATH", "HOME"):
            del os.environ[name]
    train(DataLoader(Sleeping(seconds=0.001), 8, num_workers=workers, multiprocessing_context="spawn"))


def trains_in_thread(workers):
    thread = threading.Thread(target=lambda: train(DataLoader(Sleeping(seconds=0.001), 8, num_workers=workers)))
    thread.start()
    thread.join()


def interrupt_parent():
    """Interrupts loaderscope like a user at its terminal."""
    os.kill(os.getppid(), signal.SIGINT)


def catches_interrupts(workers):
    """Ctrl-C ends its epoch, and it begins another one."""
    loader = DataLoader(Sleeping(seconds=0.001), 8, num_workers=0)
    for number, _ in enumerate(loader):
        if number == 30:
            interrupt_parent()
            try:
                time.sleep(30)
            except KeyboardInterrupt:
                print("goes on", flush=True)


def ignores_all(workers):
    """Only a second Ctrl-C ends it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    train(DataLoader(Sleeping(seconds=0.001), 8, num_workers=workers), most=30)
    interrupt_parent()
    time.sleep(0.2)
    print("goes on", flush=True)
    interrupt_parent()
    time.sleep(60)


def ignores_all_but_a_hangup(workers):
    """Sends loaderscope a hangup after an interrupt, like a terminal that is closed after Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    train(DataLoader(Sleeping(), 8, num_workers=workers), most=30)
    interrupt_parent()
    time.sleep(0.5)
    print("goes on", flush=True)
    os.kill(os.getppid(), signal.SIGHUP)
    time.sleep(60)


def leaves_shared_memory(workers):
    """Tensors in /dev/shm, by their own names."""
    torch.multiprocessing.set_sharing_strategy("file_system")
    train(DataLoader(Breaks(kill_trainer), 8, num_workers=workers))


if __name__ == "__main__":
    globals()[sys.argv[1]](int(sys.argv[2]) if len(sys.argv) > 2 else 2)
