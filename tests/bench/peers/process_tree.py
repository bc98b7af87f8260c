"""CPU time and memory of a process and everything below it, from /proc."""

import os
import time
from typing import Iterator


def processes(root: int) -> Iterator[int]:
    yield root
    try:
        threads = os.listdir(f"/proc/{root}/task")
    except OSError:
        return
    for thread in threads:
        try:
            with open(f"/proc/{root}/task/{thread}/children", encoding="ascii") as file:
                children = file.read().split()
        except OSError:
            continue
        for child in children:
            yield from processes(int(child))


def _cpu_clock(pid: int) -> int:
    return (~pid << 3) | 2  # the kernel's number for the CPU time of a process: CPUCLOCK_SCHED


def cpu_seconds(root: int) -> float:
    """CPU time of the processes that are alive."""
    total = 0.0
    for pid in processes(root):
        try:
            total += time.clock_gettime(_cpu_clock(pid))
        except OSError:
            continue  # the process has ended
    return total


def memory_bytes(root: int) -> int:
    """Memory of all processes together. Shared pages count once (proportional set size)."""
    total = 0
    for pid in processes(root):
        try:
            with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
                total += sum(1024 * int(line.split()[1]) for line in file if line.startswith("Pss:"))
        except OSError:
            continue
    return total
