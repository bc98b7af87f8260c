"""Samples and batches that workers of a DataLoader make."""

import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import time
import warnings

import torch
from torch.utils.data import DataLoader, Dataset, get_worker_info

NEEDS = "torch"


class _Samples(Dataset):
    def __init__(self, call, length=4):
        self.call, self.length = call, length

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        return self.call(index)


class _OwnError(Exception):
    def __init__(self, first, second):
        super().__init__(f"{first} and {second}")


def _taken(call, **named):
    try:
        return [batch.tolist() if torch.is_tensor(batch) else batch for batch in DataLoader(_Samples(call), 2, **named)]
    except Exception as error:
        lines = str(error).splitlines()
        return type(error).__name__, lines[0], lines[-1]
    finally:
        gc.collect()


def _taken_twice(call):
    return _taken(call), _taken(call, num_workers=1)


def _forked(index):
    child = os.fork()
    if child == 0:
        os._exit(index)
    return os.WEXITSTATUS(os.waitpid(child, 0)[1])


def _ran(index):
    return len(subprocess.run(["echo", "x" * index], stdout=subprocess.PIPE, check=True).stdout)


def _ran_python(index):
    code = f"import zlib, gzip; print(len(zlib.decompress(zlib.compress(b'a' * {index}))))"
    return int(subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=True).stdout)


def _raise(error):
    raise error


def _informed(index):
    info = get_worker_info()
    return "none" if info is None else f"{info.id} of {info.num_workers}, {type(info.dataset).__name__}, seed {info.seed % 10}"


def _warned(index):
    warnings.warn(f"of sample {index}")
    return index


def _printed(index):
    print("sample", index, flush=True)
    return index


def _exits(index):
    os._exit(5)


def _sleeps(index):
    time.sleep(3)
    return index


def _alarmed(index):
    """A signal of the program's own comes while a sample is made."""
    seen = []
    before = signal.signal(signal.SIGALRM, lambda *_: seen.append(index))
    signal.setitimer(signal.ITIMER_REAL, 0.02)
    time.sleep(0.05)
    signal.signal(signal.SIGALRM, before)
    return len(seen)


def _process_facts(index):
    process = multiprocessing.current_process()
    return f"{process.name.split('-')[0]} {process.daemon} {os.getppid() == multiprocessing.parent_process().pid}"


def _prepared(worker):
    torch.manual_seed(100 + worker)
    print("prepared", worker, flush=True)


def _drawn(index):
    return torch.rand(1).item()


def a_sample_forks():
    return _taken_twice(_forked)


def a_sample_runs_a_program():
    return _taken_twice(_ran)


def a_sample_runs_python():
    return _taken(_ran_python, num_workers=1)


def a_sample_raises():
    return [_taken_twice(lambda index, error=error: _raise(error)) for error in
            (ValueError("of a sample"), IndexError(3), _OwnError("one", "two"), StopIteration("early"), RuntimeError())]


def a_sample_exits():
    found = _taken(_exits, num_workers=1)
    return found[0], "exited unexpectedly" in found[1]


def a_loader_times_out():
    return _taken(_sleeps, num_workers=1, timeout=1)


def samples_know_their_worker():
    torch.manual_seed(1)
    return _taken_twice(_informed)


def samples_warn():
    return _taken_twice(_warned)


def samples_print():
    return _taken_twice(_printed)


def samples_have_alarms():
    return _taken_twice(_alarmed)


def samples_see_their_process():
    return _taken(_process_facts, num_workers=1)


def workers_are_prepared():
    return _taken(_drawn, num_workers=1, worker_init_fn=_prepared)


def random_numbers_of_workers():
    torch.manual_seed(5)
    return [_taken(_drawn, num_workers=workers) for workers in (0, 2)], torch.rand(1).item()


def samples_of_every_kind():
    kinds = [1, 2.5, "text", b"bytes", None, (1, 2), [3], {"a": 4}, {5}, frozenset(), complex(1, 2), range(3), ...]
    same = [list(DataLoader(kinds, 2, num_workers=workers, collate_fn=list)) for workers in (0, 1)]
    return same


def batches_without_a_sampler():
    return [[value for value in DataLoader([1, 2, 3], None, num_workers=workers)] for workers in (0, 1)]


def an_iterator_is_left():
    iterator = iter(DataLoader(_Samples(int, 100), 2, num_workers=2))
    first = next(iterator).tolist()
    del iterator
    gc.collect()
    return first, [child.name for child in multiprocessing.active_children()]
