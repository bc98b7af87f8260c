#!/usr/bin/env python3
"""False alarms of `loaderscope compare`, and planted slowdowns that it finds. Whole jobs run one after another.

    tests/bench/compare_bench.py build/release/loaderscope --jobs 299                     # A against A
    tests/bench/compare_bench.py build/release/loaderscope --jobs 40 --plant decode=+100us
    tests/bench/compare_bench.py build/release/loaderscope --jobs 40 --plant decode=+35us --burn -- --data build/photos
    JOB_IMAGES=build/photos tests/bench/compare_bench.py build/release/loaderscope --jobs 40 --budget 90s \\
        --plant read=+100us -- --loader tests/torch/jobs.py:make_photo_loader --python "$(scripts/python-env --find)"

A job ends within --budget. Flags of run come after "--". Without them costs are declared: decode 2 ms and augment 1 ms.
--burn: another process takes a core every other second."""

import argparse
import collections
import json
import subprocess
import sys
import threading
import time


def burn(stop: threading.Event) -> None:
    while not stop.is_set():
        end = time.time() + 1
        subprocess.run([sys.executable, "-c", f"import time\nwhile time.time() < {end}: pass"], check=False)
        stop.wait(1)


def job(binary: str, flags: list, plant: str, budget: str) -> dict:
    b = f"--inject {plant}" if plant else ""
    command = [binary, "compare", "--a", "", "--b", b, "--budget", budget, "--device", "null", "--json", "-", *flags]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 2):
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--jobs", type=int, default=20)
    parser.add_argument("--plant", default="", help="an injection into B")
    parser.add_argument("--budget", default="30s")
    parser.add_argument("--burn", action="store_true")
    own = [*sys.argv[1:], "--"]
    end = own.index("--")
    given = parser.parse_args(own[:end])
    flags = own[end + 1:-1] or ["--cost", "decode=2ms", "--cost", "augment=1ms"]
    if "--loader" not in flags:
        flags = ["--num-workers", "1", "--batch-size", "4", *flags]
    stop = threading.Event()
    if given.burn:
        threading.Thread(target=burn, args=(stop,), daemon=True).start()
    verdicts: collections.Counter = collections.Counter()
    named, pairs, seen = 0, 0, []
    for number in range(given.jobs):
        result = job(given.binary, flags, given.plant, given.budget)
        verdicts[result["verdict"]] += 1
        named += bool(given.plant) and result["blamed"] == given.plant.split("=")[0] and result["verdict"] == "worse"
        pairs += result["pairs"]["counted"]
        seen += [one["least_seen"] for one in result["differences"] if one["name"] == "cpu-per-sample"]
        print(f"{number + 1}: {result['sentence']}", file=sys.stderr, flush=True)
    stop.set()
    print(f"{given.jobs} jobs, {pairs / given.jobs:.1f} pairs each: {dict(verdicts)}", end="")
    print(f"; named {named}" if given.plant else "", end="")
    seen.sort()
    print(f"; the smallest change of CPU time per sample seen: {100 * seen[len(seen) // 2]:.1f} % (median)")


if __name__ == "__main__":
    main()
