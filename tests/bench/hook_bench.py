#!/usr/bin/env python3
"""Cost of the hooks in a program: CPU time of its own processes, in runs with and without loaderscope that alternate,
and of one call.

    tests/bench/hook_bench.py build/release/loaderscope                    # all jobs, each 6 times with and without
    tests/bench/hook_bench.py build/release/loaderscope --jobs tiny-0,pillow --turns 20
    tests/bench/hook_bench.py --calls build/release/src/libloaderscope_guest.so

--python: one with PyTorch, as scripts/python-env makes it. A job counts from its first batch's asking to the end of its
workers, so that imports do not count. `host` is the CPU time of loaderscope's own process, also without imports."""

import argparse
import io
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
COPIED = 4 << 20  # bytes
OUTPUT = "HOOK_BENCH_OUTPUT"  # the file that a job writes its CPU time to


def cpu_seconds(who: int) -> float:
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


# Jobs: what makes a data set, its samples per batch and its workers.

def numbers(count: int = 1_000_000):
    """Samples as small as they can be, and a batch of 256 in 60 us."""
    return range(count)


def tiny(count: int = 1_000_000):
    import torch

    return torch.utils.data.TensorDataset(torch.zeros(count, 8), torch.zeros(count))


def stream(count: int = 1_000_000):
    """Samples as small as they can be, of an iterable data set."""
    import torch

    class Numbers(torch.utils.data.IterableDataset):
        def __iter__(self):
            return iter(range(count))

    return Numbers()


def pillow(count: int = 3000):
    import numpy
    import torch
    from PIL import Image

    noise = numpy.random.default_rng(0).integers(0, 255, (30, 40, 3), numpy.uint8)
    written = io.BytesIO()
    Image.fromarray(noise).resize((400, 300)).save(written, "JPEG", quality=90)

    class Photos:
        def __len__(self):
            return count

        def __getitem__(self, index):
            image = Image.open(io.BytesIO(written.getvalue())).convert("RGB").resize((224, 224))
            return torch.from_numpy(numpy.asarray(image).copy()).permute(2, 0, 1)

    return Photos()


def opencv(count: int = 3000):
    import cv2
    import numpy
    import torch

    noise = numpy.random.default_rng(0).integers(0, 255, (30, 40, 3), numpy.uint8)
    _, written = cv2.imencode(".jpg", cv2.resize(noise, (400, 300)))

    class Photos:
        def __len__(self):
            return count

        def __getitem__(self, index):
            image = cv2.resize(cv2.cvtColor(cv2.imdecode(written, 1), cv2.COLOR_BGR2RGB), (224, 224))
            return torch.from_numpy(image).permute(2, 0, 1)

    return Photos()


def tokens(count: int = 200_000, length: int = 1024):
    import numpy
    import torch

    words = numpy.random.default_rng(0).integers(0, 50000, 20_000_000, numpy.uint16)

    class Tokens:
        def __len__(self):
            return count

        def __getitem__(self, index):
            begin = index * 97 % (len(words) - length - 1)
            part = torch.from_numpy(words[begin : begin + length + 1].astype(numpy.int64))
            return part[:-1], part[1:]

    return Tokens()


JOBS = {"numbers-0": (numbers, 256, 0), "stream-0": (stream, 256, 0), "tiny-0": (tiny, 256, 0), "tiny-2": (tiny, 256, 2), "tokens-0": (tokens, 64, 0), "tokens-2": (tokens, 64, 2),
        "pillow-0": (pillow, 32, 0), "pillow-2": (pillow, 32, 2), "opencv-2": (opencv, 32, 2)}


def run_job(name: str) -> None:
    from torch.utils.data import DataLoader
    import torch

    torch.set_num_threads(1)
    make, batch_size, workers = JOBS[name]
    loader = DataLoader(make(), batch_size, num_workers=workers)
    own, others = cpu_seconds(resource.RUSAGE_SELF), cpu_seconds(resource.RUSAGE_CHILDREN)
    batches = 0
    for _ in loader:
        batches += 1
    spent = cpu_seconds(resource.RUSAGE_SELF) - own + cpu_seconds(resource.RUSAGE_CHILDREN) - others
    with open(os.environ[OUTPUT], "w") as file:
        json.dump({"cpu": spent, "batches": batches}, file)


def spent_by_job(command: list) -> float:
    """CPU seconds; and of the process that is started, without the job."""
    with tempfile.NamedTemporaryFile() as output:
        before = cpu_seconds(resource.RUSAGE_CHILDREN)
        done = subprocess.run(command, env={**os.environ, OUTPUT: output.name}, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(command)} ended with {done.returncode}: {done.stderr[-2000:]}")
        return json.load(output)["cpu"], cpu_seconds(resource.RUSAGE_CHILDREN) - before


def compare(binary: str, python: str, name: str, turns: int, is_timed: bool) -> None:
    plain = [python, os.path.abspath(__file__), "--job", name]
    flags = [] if is_timed else ["--no-hook-cost"]
    watched = [binary, "run", *flags, "--", *plain]
    ratios, own, whole = [], [], []
    for turn in range(turns):
        order = (plain, watched) if turn % 2 == 0 else (watched, plain)
        spent = {id(command): spent_by_job(command) for command in order}
        (without, all_without), (with_hooks, all_with) = spent[id(plain)], spent[id(watched)]
        ratios.append(with_hooks / without - 1)
        own.append(without)
        whole.append((all_with - with_hooks) - (all_without - without))
    print(f"{name:10} {statistics.median(own):8.2f} s {100 * statistics.median(ratios):+8.2f} % "
          f"({100 * min(ratios):+.1f} to {100 * max(ratios):+.1f}) {statistics.median(whole):8.2f} s", flush=True)


def per_call(calls: int, function, *arguments) -> float:
    """ns of CPU time, the best of 5, without those of the loop."""
    def spent(function) -> int:
        best = 1 << 62
        for _ in range(5):
            begun = time.thread_time_ns()
            for _ in range(calls):
                function(*arguments)
            best = min(best, time.thread_time_ns() - begun)
        return best

    return spent(function) / calls


def per_call_cold(copies: int, function, *arguments) -> float:
    """Median ns by the clock of calls that each follow a copy, which evicts the contents of a core's caches."""
    whole, lengths = bytearray(COPIED), []
    for _ in range(copies):
        bytes(whole)
        begun = time.perf_counter_ns()
        function(*arguments)
        lengths.append(time.perf_counter_ns() - begun)
    return statistics.median(lengths)


def nothing(value):
    return value


def measure_calls(library_path: str) -> None:
    sys.path.insert(0, os.path.join(HERE, "..", "torch"))
    import guest_test
    import pretend_host

    guest_test.LIBRARY = library_path
    guest_test.setUpModule()
    host = pretend_host.PretendHost(guest_test.FOLDER)
    from loaderscope_guest import library, batch_work, stages
    from loaderscope_guest.fetcher import _Dataset

    library.join(role="worker", rank=-1)
    batch_work.current = maker = batch_work.Making(0, 0)
    timed, nested = stages.timed(nothing, stages.DECODE), stages.timed(nothing, stages.DECODE)
    data = list(range(8))
    hooked = _Dataset(data, False, maker)
    calls = 100_000
    plain = per_call(calls, nothing, 1)
    rows = [("a function", plain), ("looked into, no batch", per_call(calls, timed, 1) - plain)]
    maker.begin(0, 0, library.now(), [0])
    maker.next_sample(0)
    rows += [("looked into, in a batch", per_call(calls, timed, 1) - plain),
             ("enter and leave", per_call(calls, library.enter, stages.READ) + per_call(calls, library.leave, 0))]
    library.enter(stages.DECODE)
    rows += [("looked into, in its own stage", per_call(calls, nested, 1) - plain)]
    library.leave(0)
    rows += [("a sample", per_call(calls, hooked.__getitem__, 3) - per_call(calls, data.__getitem__, 3)),
             ("a fact", per_call(calls, maker.fact, library.FACT.finished, 1))]
    maker.begin(0, 0, library.now(), [0])
    maker.next_sample(0)
    copies = 3000
    empty = per_call_cold(copies, nothing, 1)
    rows += [(f"a function, {COPIED >> 20} MiB copied", empty),
             ("looked into, likewise", per_call_cold(copies, timed, 1) - empty),
             ("a fact, likewise", per_call_cold(copies, maker.fact, library.FACT.finished, 1) - empty)]
    for name, spent in rows:
        print(f"{name:32} {spent:8.0f} ns")
    host.time_stages(False)
    guest_test.tearDownModule()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", nargs="?")
    parser.add_argument("--python", default=os.environ.get("LOADERSCOPE_PYTHON", sys.executable))
    parser.add_argument("--jobs", default=",".join(JOBS))
    parser.add_argument("--turns", type=int, default=6)
    parser.add_argument("--with-turns", action="store_true", help="stages are timed and not timed by turns, as is usual")
    parser.add_argument("--calls", metavar="LIBRARY", help="of one call only")
    parser.add_argument("--job", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.job:
        return run_job(given.job)
    if given.calls:
        return measure_calls(os.path.abspath(given.calls))
    if not given.binary:
        parser.error("the program is missing: build/release/loaderscope")
    print("job        CPU without   with hooks (least to most)     host")
    for name in given.jobs.split(","):
        compare(os.path.abspath(given.binary), given.python, name, given.turns, given.with_turns)


if __name__ == "__main__":
    main()
