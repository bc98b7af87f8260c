"""Programs that end in different ways."""

import atexit
import os
import signal
import sys
import threading
import time
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


def a_timer_interrupts_the_wait_for_a_batch():
    class Slow(list):
        def __getitem__(self, index):
            time.sleep(30)

    def interrupt(*_):
        raise TimeoutError("of the program")

    signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    try:
        list(_loader(1, Slow([1, 2])))
    except TimeoutError as error:
        print("interrupted", error)
    os._exit(0)  # the worker sleeps


def a_worker_is_killed():
    class Killed(list):
        def __getitem__(self, index):
            os.kill(os.getpid(), signal.SIGKILL)

    try:
        list(_loader(1, Killed([1, 2])))
    except RuntimeError as error:
        print(str(error).partition("(pid")[0])


def ends_in_the_middle_of_an_epoch():
    iterator = iter(_loader(2, list(range(100))))
    print(next(iterator))
    sys.exit("enough")


def a_generator_is_closed():
    def batches():
        try:
            for batch in _loader(1):
                yield batch.tolist()
        finally:
            print("closed")

    print(next(batches()))
    raise SystemExit
