"""Measures the promises of loaderscope for somebody else's PyTorch DataLoader:

    python3 tests/bench/torch_loader build/release/loaderscope --python PYTHON_WITH_TORCH [--rounds 5]

Each round runs everything once, so that a machine that gets slower does so for all. Prints a table: the median over
the rounds with the least and the most, and the promise. Nothing fails; a crowded machine misses."""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

from declared import BATCH, MS

JOB = os.path.join(os.path.dirname(os.path.abspath(__file__)), "job.py")


class Program:
    def __init__(self, given):
        self.loaderscope, self.python = given.loaderscope, given.python

    def run(self, *words):
        """The result, and what the measured program printed."""
        done = subprocess.run([self.loaderscope, "run", "--json", "-", *words], capture_output=True, text=True,
                              check=False)
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(words)}: exit {done.returncode}: {done.stderr[-500:]}")
        return json.loads(done.stdout), done.stderr

    def job(self, loader, workers, batches, *flags):
        return self.run(*flags, "--", self.python, JOB, loader, str(workers), str(batches))


def rate(result):
    return result["throughput"]["samples_per_s"]["mean"]


def said(printed):
    return json.loads(next(line for line in printed.splitlines() if line.startswith('{"samples_per_s"')))


def own_rate(program, loader, workers, batches):
    """Rate that loaderscope reports over the rate of a bare loop in the same run, minus 1."""
    result, printed = program.job(loader, workers, batches)
    return rate(result) / said(printed)["samples_per_s"] - 1


def hooks_cpu(program, loader, batches):
    """Without workers, in CPU time, which a crowded machine changes little: with hooks over a run without."""
    _, printed = program.job(loader, 0, batches)
    bare = subprocess.run([program.python, JOB, loader, "0", str(batches)], capture_output=True, text=True, check=True)
    return said(printed)["cpu_s"] / said(bare.stdout)["cpu_s"] - 1


def hooks(program, loader, workers, steps):
    result, _ = program.job(loader, workers, 1 << 16, "--steps", str(steps))
    return result.get("hooks", {}).get("cost_share", float("inf"))  # withheld: too noisy to promise anything


def recovered(program, steps):
    """Declared sleeps of one worker: for each the error of its cause, as a share of the window."""
    result, _ = program.job("declared", 1, 1 << 16, "--steps", str(steps))
    window, stall = result["window"]["wall_s"], result["account"]["stall_s"]
    per_step = {"opaque": BATCH * MS["opaque"], "augment": BATCH * MS["augment"], "collate": MS["collate"]}
    return {cause: (stall[cause] - ms * 1e-3 * result["window"]["steps"]) / window for cause, ms in per_step.items()}


def engines(program, workers, compute, steps):
    """The same costs in the loader of PyTorch, in ours with processes, and in the model: rates over PyTorch's."""
    common = ["--num-workers", str(workers), "--compute", compute, "--steps", str(steps)]
    costs = ["--batch-size", str(BATCH), "--memory", "pageable", "--prefetch-factor", "2"]
    for stage, ms in (("decode", MS["opaque"]), ("augment", MS["augment"]), ("collate", MS["collate"])):
        costs += ["--cost", f"{stage}={ms}ms:sleep"]
    loader, _ = program.run("--loader", JOB + ":declared", "--python", program.python, *common)
    native, _ = program.run("--engine", "native", "--executor", "processes", *costs, *common)
    model, _ = program.run("--engine", "model", "--executor", "processes", *costs, *common)
    return {"native": rate(native) / rate(loader) - 1, "model": rate(model) / rate(loader) - 1}


def one_round(program, steps):
    found = {}
    for loader, workers in (("declared", 2), ("photos", 2), ("declared", 0)):
        found[f"rate against a bare loop, {loader}, {workers} workers", 0.03] = own_rate(program, loader, workers, steps)
    for loader in ("declared", "photos"):
        found[f"hooks cost, {loader}, 2 workers", 0.02] = hooks(program, loader, 2, 2 * steps)
    found["hooks' CPU time, photos, 0 workers", 0.02] = hooks_cpu(program, "photos", steps)
    for cause, error in recovered(program, steps).items():
        found[f"declared sleep of {cause}, of the window", 0.03] = error
    for workers, compute in ((1, "20ms"), (2, "20ms"), (4, "20ms"), (4, "40ms")):
        for engine, error in engines(program, workers, compute, steps).items():
            found[f"{engine} against torch, {workers} workers, compute {compute}", 0.10] = error
    return found


def show(rounds):
    print(f"{'':60} {'median':>8} {'least':>8} {'most':>8}  promised")
    for name, promise in rounds[0]:
        values = [found[name, promise] for found in rounds]
        middle = statistics.median(values)
        missed = (middle if name.startswith("hooks") else abs(middle)) > promise
        print(f"{name:60} {100 * middle:+7.2f}% {100 * min(values):+7.2f}% {100 * max(values):+7.2f}%  "
              f"{100 * promise:.0f} %{'  missed' if missed else ''}")


def main():
    flags = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    flags.add_argument("loaderscope")
    flags.add_argument("--python", default=sys.executable, help="the Python with torch, torchvision and Pillow")
    flags.add_argument("--rounds", type=int, default=5)
    flags.add_argument("--steps", type=int, default=100)
    given = flags.parse_args()
    program, rounds = Program(given), []
    with tempfile.TemporaryDirectory() as images:
        subprocess.run([given.loaderscope, "data", "make", images + "/made", "--count", "200"], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.environ["BENCH_IMAGES"] = images
        for number in range(given.rounds):
            rounds.append(one_round(program, given.steps))
            print(f"round {number + 1} of {given.rounds}, load {os.getloadavg()[0]:.1f}", file=sys.stderr)
    show(rounds)


if __name__ == "__main__":
    main()
