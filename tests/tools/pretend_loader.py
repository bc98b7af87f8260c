"""A trainer with loader workers as PyTorch names them, without PyTorch: pretend_loader.py HOW WORKERS

Each worker gets tasks by a pipe of its own and answers by one that all share, as those of a DataLoader do.
HOW: reads (a sample sleeps), decode (it computes), trainer (the step takes longest), hangs (worker 0 reads a pipe
without a writer), idle (nothing is ever asked for).
"""
import ctypes
import os
import select
import sys
import time


def name(text):
    ctypes.CDLL(None).prctl(15, text.encode(), 0, 0, 0)  # PR_SET_NAME


def compute(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def take(pipe):  # polls for 5 s again and again, like multiprocessing
    poll = select.poll()
    poll.register(pipe, select.POLLIN)
    while not poll.poll(5000):
        pass
    return os.read(pipe, 1)


def hangs(number):
    if number == 0:
        os.mkfifo(sys.argv[3])
        os.close(os.open(sys.argv[3], os.O_RDONLY))


WORK = {
    "reads": lambda number: time.sleep(0.04),
    "decode": lambda number: compute(0.04),
    "trainer": lambda number: time.sleep(0.001),
    "hangs": hangs,
    "idle": lambda number: None,
}


def be_worker(how, number, tasks, results):
    name("pt_data_worker")
    ctypes.CDLL(None).prctl(1, 9, 0, 0, 0)  # PR_SET_PDEATHSIG: none outlives its trainer
    while True:
        take(tasks)
        WORK[how](number)
        os.write(results, bytes([number]))


def main():
    how, workers = sys.argv[1], int(sys.argv[2])
    answers, results = os.pipe()
    tasks = []
    for number in range(workers):
        its, ours = os.pipe()
        if os.fork() == 0:
            be_worker(how, number, its, results)
        tasks.append(ours)
    ask = 0 if how == "idle" else 1
    for pipe in tasks:
        os.write(pipe, b"." * 2 * ask)
    print("up", flush=True)
    ready, turn = [0] * workers, 0
    while True:  # takes batches in the order of the tasks
        while not ready[turn]:
            ready[take(answers)[0]] += 1
        ready[turn] -= 1
        time.sleep(0.05 if how == "trainer" else 0.002)
        os.write(tasks[turn], b".")
        turn = (turn + 1) % workers


main()
