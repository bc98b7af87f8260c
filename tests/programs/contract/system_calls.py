"""Samples that wait in system calls, handle signals and start processes."""

import ctypes
import errno
import os
import select
import signal
import socket
import subprocess
import threading
import time

import torch
from torch.utils.data import DataLoader, Dataset

NEEDS = "torch"
PROCESSES = "forked"

_LIBC = ctypes.CDLL(None, use_errno=True)
_WAIT_MS = 60  # longer than a worker's line is left unseen


class _Calls(Dataset):
    def __init__(self, function, samples):
        self.function, self.samples = function, samples

    def __len__(self):
        return self.samples

    def __getitem__(self, index):
        return torch.tensor(self.function(index))


def _load(function, samples=8, workers=2):
    return [batch.tolist() for batch in DataLoader(_Calls(function, samples), 2, num_workers=workers)]


class _Time(ctypes.Structure):
    _fields_ = [("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long)]


def _is_interrupted(result):
    """`result`: of a function of the C library."""
    return int(result < 0 and ctypes.get_errno() == errno.EINTR)


def _interruptions(_):
    """Makes calls that the kernel never restarts after a signal. Returns 1 for each that was interrupted."""
    wait, left = _Time(0, _WAIT_MS * 1_000_000), _Time()
    semaphore, end = ctypes.create_string_buffer(64), time.time_ns() + _WAIT_MS * 1_000_000
    until = _Time(end // 1_000_000_000, end % 1_000_000_000)
    _LIBC.sem_init(semaphore, 0, 0)
    with select.epoll() as waits:
        return [
            _is_interrupted(_LIBC.poll(None, 0, _WAIT_MS)),
            _is_interrupted(_LIBC.select(0, None, None, None, ctypes.byref(_Time(0, _WAIT_MS * 1000)))),
            _is_interrupted(_LIBC.epoll_wait(waits.fileno(), ctypes.create_string_buffer(64), 1, _WAIT_MS)),
            _is_interrupted(_LIBC.nanosleep(ctypes.byref(wait), ctypes.byref(left))),
            _is_interrupted(_LIBC.usleep(_WAIT_MS * 1000)),
            _is_interrupted(_LIBC.sem_timedwait(semaphore, ctypes.byref(until))),
        ]


def waits_in_calls_that_do_not_restart():
    return _load(_interruptions)


def receives_with_a_time_limit():
    def receive(_):
        ours, theirs = socket.socketpair()
        with ours, theirs:
            ours.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, bytes(_Time(0, _WAIT_MS * 1000)))
            _LIBC.recv(ours.fileno(), ctypes.create_string_buffer(8), 8, 0)
            return ctypes.get_errno()

    return _load(receive, 12)


def handles_real_time_signals():
    seen = []
    for number in range(signal.SIGRTMIN, signal.SIGRTMAX + 1):
        if signal.getsignal(number) == signal.SIG_DFL and number not in (signal.SIGRTMAX - 3, signal.SIGRTMAX - 4):
            signal.signal(number, lambda number, frame: seen.append(number))

    def raise_one(index):
        signal.raise_signal(signal.SIGRTMAX - 5)
        return len(seen)

    return _load(raise_one, workers=1), seen


def forks_in_a_sample():
    def fork(index):
        child = os.fork()
        if child == 0:
            os._exit(index)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    return [_load(fork, workers=workers) for workers in (0, 1)]


def forks_and_makes_batches_in_the_child():
    def fork(index):
        if index == 3:
            child = os.fork()
            if child == 0:
                list(DataLoader(list(range(4)), 2))
                os._exit(7)
            return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        return index

    return [_load(fork, workers=workers) for workers in (0, 1)]


def runs_a_program_in_a_sample():
    return _load(lambda index: int(subprocess.check_output(["/bin/sh", "-c", f"echo {index}"])))


def waits_for_a_thread_and_a_signal():
    """A signal that the program sends itself comes where it waits."""
    came = []
    signal.signal(signal.SIGUSR1, lambda number, frame: came.append(number))
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGUSR1)).start()
    begun = time.monotonic()
    while not came and time.monotonic() < begun + 20:
        time.sleep(0.05)
    return _load(lambda index: index), came
