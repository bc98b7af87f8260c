"""Programs whose loader hangs, each for a reason of its own, or is only slow: hangs.py NAME WORKERS. Sample 41 hangs."""

import argparse
import fcntl
import multiprocessing
import os
import signal
import socket
import tempfile
import threading
import time

import torch
from torch.utils.data import DataLoader, Dataset

SAMPLES, HANGS_AT = 200, 41
FOR_EVER = 3600


class Hanging(Dataset):
    def __init__(self, hang):
        self.hang = hang

    def __len__(self):
        return SAMPLES

    def __getitem__(self, index):
        time.sleep(0.001)  # shorter samples are not timed one by one
        if index == HANGS_AT:
            self.hang()
        return torch.zeros(4)


def train(dataset, workers):
    more = {"multiprocessing_context": "fork"} if workers else {}
    for batch in DataLoader(dataset, batch_size=4, num_workers=workers, **more):
        time.sleep(0.002)


def new_path(name):
    return os.path.join(tempfile.mkdtemp(), name)


def silent_file(workers):
    """A pipe whose other end stays open and sends nothing."""
    path = new_path("photo.jpg")
    os.mkfifo(path)
    other_end = os.open(path, os.O_RDWR)

    def hang():
        with open(path, "rb") as file:
            file.read()

    train(Hanging(hang), workers)
    os.close(other_end)


def file_that_does_not_open(workers):
    path = new_path("photo.jpg")
    os.mkfifo(path)
    train(Hanging(lambda: open(path, "rb").close()), workers)


def silent_server(workers, timeout=None):
    """A server that accepts connections and never answers."""
    listening = socket.create_server(("127.0.0.1", 0))

    def hang():
        with socket.create_connection(listening.getsockname(), timeout=timeout) as line:
            line.recv(1)

    train(Hanging(hang), workers)


def silent_server_with_long_timeout(workers):
    silent_server(workers, timeout=FOR_EVER)


def lock_held_at_fork(workers):
    """A lock of another thread of the trainer."""
    lock, is_held = threading.Lock(), threading.Event()

    def hold():
        with lock:
            is_held.set()
            time.sleep(FOR_EVER)

    threading.Thread(target=hold, daemon=True).start()
    is_held.wait()

    def hang():
        with lock:
            pass

    train(Hanging(hang), workers)


def shared_lock(workers):
    """The trainer has it."""
    lock = multiprocessing.get_context("fork").Lock()

    def hang():
        with lock:
            pass

    with lock:
        train(Hanging(hang), workers)


def locked_file(workers):
    path = new_path("index.lock")
    held = open(path, "w")
    fcntl.flock(held, fcntl.LOCK_EX)

    def hang():
        with open(path, "w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)

    train(Hanging(hang), workers)


def stopped_worker(workers):
    train(Hanging(lambda: os.kill(os.getpid(), signal.SIGSTOP)), workers)


class Parts(Dataset):
    """A part for each rank, the later the longer."""

    def __init__(self, rank):
        self.rank = rank

    def __len__(self):
        return 40 + 4 * self.rank

    def __getitem__(self, index):
        return torch.zeros(4)


def unequal_ranks(workers):
    """A step needs all ranks, like with DistributedDataParallel."""
    torch.distributed.init_process_group("gloo")
    for batch in DataLoader(Parts(torch.distributed.get_rank()), batch_size=4, num_workers=workers):
        torch.distributed.all_reduce(torch.zeros(1))
    time.sleep(FOR_EVER)


class Slow(Dataset):
    """A batch takes longer than --hang-after of the tests, and one sample far longer."""

    def __len__(self):
        return 24

    def __getitem__(self, index):
        time.sleep(0.3)
        until = time.monotonic() + (3 if index == 1 else 0)
        while time.monotonic() < until:
            pass
        return torch.zeros(4)


def slow(workers):
    train(Slow(), workers)
    time.sleep(3)  # simulates writing a checkpoint


def stands_for_a_while(workers):
    train(Hanging(lambda: time.sleep(3)), workers)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("name")
    parser.add_argument("workers", type=int)
    words = parser.parse_args()
    globals()[words.name](words.workers)
