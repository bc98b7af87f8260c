"""How programs end."""

import atexit
import os
import signal
import sys
import threading
import warnings

from torch.utils.data import DataLoader

NEEDS = "torch"
PROCESSES = "forked"


def _loader(workers=0, dataset=None):
    return DataLoader(dataset or list(range(8)), 4, num_workers=workers)


def exits_with_a_code():
    list(_loader(1))
    sys.exit(3)


def exits_at_once():
    list(_loader())
    print("before", flush=True)
    os._exit(4)


def ends_by_an_exception():
    list(_loader())
    raise LookupError("of the program")


def ends_by_a_signal():
    list(_loader())
    os.kill(os.getpid(), signal.SIGTERM)


def ends_by_an_interrupt():
    list(_loader())
    signal.raise_signal(signal.SIGINT)


def exits_with_handlers():
    atexit.register(print, "first handler")
    list(_loader(1))
    atexit.register(print, "second handler")


def a_thread_outlives_the_main_one():
    threading.Thread(target=lambda: print(sum(len(batch) for batch in _loader())) or print("thread ended")).start()


def warnings_are_errors():
    warnings.simplefilter("error")
    print([batch.tolist() for batch in _loader(1)])
