"""On which CPUs the workers of a DataLoader and its pin thread run, where --bind says so. Workers and threads that others start
later inherit them. No program fails of it: what the kernel refuses is said."""

import os
from typing import Iterable, Optional

from loaderscope_guest import messages
from loaderscope_guest.settings import BIND, RANK


def _rank_cpus(workers: int) -> Iterable[int]:
    """A CPU for each of the rank's workers, in their order; or all of the rank's."""
    rank = max(RANK, 0)
    if BIND["by_rank"]:
        return BIND["by_rank"][rank % len(BIND["by_rank"])]
    order = BIND["in_turn"]
    return [order[(rank * workers + worker) % len(order)] for worker in range(max(workers, 1))]


def _run_on(cpus: Iterable[int], who: str) -> None:
    try:
        os.sched_setaffinity(0, cpus)  # the calling thread
    except Exception as error:
        messages.degraded(f"{who} could not be bound to CPUs {','.join(map(str, cpus))}: {error}")


def bind_worker(number: int, workers: Optional[int]) -> None:
    """Called in it, before it makes anything."""
    if BIND is None:
        return
    cpus = list(_rank_cpus(workers or number + 1))
    if not BIND["by_rank"]:
        cpus = [cpus[number % len(cpus)]]
    _run_on(cpus, f"worker {number}")


def bind_pin_thread(workers: Optional[int]) -> None:
    """Binds the pin thread to the CPUs of its rank's workers."""
    if BIND is not None:
        _run_on(sorted(set(_rank_cpus(workers or 1))), "the pin thread")
