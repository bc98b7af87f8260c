#!/usr/bin/env python3
"""Jobs over several hosts against the plan made from one rank.

Network namespaces are the hosts, on a bridge. For each pipeline one rank is measured alone, and
`loaderscope plan` says from it what a job of more ranks would reach; the job is then run over the
hosts (`run --rendezvous env`, a step of all ranks together), and the rates are compared:

    sudo tests/bench/hosts_bench.py [--binary build/dev/loaderscope] [--seconds 4]

Costs are declared and sleep, so that two cores are enough for all ranks. Exit code 2 where the
errors of the rate are larger than is promised: their median 5 %, the worst 15 %.
"""

import argparse
import contextlib
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

HOSTS = 4
SIZES = ((2, 2), (3, 3), (4, 4), (4, 8), (4, 16))  # hosts, ranks
PIPELINES = {
    "decode, lognormal": "--cost decode=lognormal:4ms:0.5:sleep --compute 6ms --workers 2 --batch 4",
    "reads with a tail": "--cost read=lognormal:3ms:1 --cost decode=1ms:sleep --compute 8ms --workers 3 --batch 4",
    "collate, exponential": "--cost decode=1ms:sleep --cost collate=exponential:8ms:sleep --compute 5ms --workers 2 --batch 4",
    "near the limit": "--cost decode=lognormal:3ms:0.7:sleep --compute 13ms --workers 2 --batch 8",
    "copies not overlapped": "--cost decode=2ms:sleep --cost h2d=lognormal:6ms:0.6 --copy sync --compute 9ms --workers 2 --batch 4",
    "slow now and then": "--cost decode=3ms:sleep --inject decode=+60ms@p=0.01 --compute 10ms --workers 2 --batch 6",
}
COMMON = "--source synthetic --device sim --sync-ranks --seed 3 --force".split()


def ip(*words):
    subprocess.run(["ip", *words], check=True)


@contextlib.contextmanager
def hosts(count):
    names = [f"ls{os.getpid()}-{i}" for i in range(count)]
    made = []
    try:
        for name in names:
            ip("netns", "add", name)
            made.append(name)
        ip("-n", names[0], "link", "add", "br0", "type", "bridge")
        ip("-n", names[0], "addr", "add", "10.77.0.1/24", "dev", "br0")
        ip("-n", names[0], "link", "set", "br0", "up")
        for i, name in enumerate(names[1:], start=1):
            ip("-n", names[0], "link", "add", f"v{i}", "type", "veth", "peer", "name", "eth0", "netns", name)
            ip("-n", names[0], "link", "set", f"v{i}", "master", "br0", "up")
            ip("-n", name, "addr", "add", f"10.77.0.{i + 1}/24", "dev", "eth0")
            ip("-n", name, "link", "set", "eth0", "up")
        yield names
    finally:
        for name in made:
            ip("netns", "del", name)


def run_job(names, ranks, words, binary):
    running = []
    for i, name in enumerate(names):
        environment = dict(os.environ, RANK=str(i), WORLD_SIZE=str(len(names)), MASTER_ADDR="10.77.0.1")
        command = ["ip", "netns", "exec", name, "unshare", "--uts", "sh", "-c", 'hostname "$0"; exec "$@"', f"node{i}"]
        command += [binary, "run", "--rendezvous", "env", "--ranks", str(ranks), *words]
        running.append(subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL))
    if any([process.wait() for process in running]):
        sys.exit("hosts_bench: a process of the job failed")


def rate_in(path):
    return json.loads(path.read_text())["throughput"]["samples_per_s"]["mean"]


def planned(binary, one, hosts, ranks, path):
    command = [binary, "plan", "--from", one, "--ranks", str(ranks), "--hosts", str(hosts), "--json", path, "--force"]
    ended = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if ended.returncode != 0:
        print(f"no plan: {ended.stderr.strip()}", flush=True)
        return None
    return next(size["samples_per_s"] for size in json.loads(path.read_text())["sizes"] if size["ranks"] == ranks)


def compare(names, binary, seconds, folder):
    errors = []
    for pipeline, costs in PIPELINES.items():
        words = [*COMMON, *costs.split(), "--duration", f"{seconds}s", "--json"]
        one, job, plan = (folder / f"{name}.json" for name in ("one", "job", "plan"))
        subprocess.run([binary, "run", *words, one], check=True, stdout=subprocess.DEVNULL)
        for count, ranks in SIZES:
            run_job(names[:count], ranks, [*words, job], binary)
            measured, predicted = rate_in(job), planned(binary, one, count, ranks, plan)
            if predicted is None:
                continue
            errors.append(abs(predicted / measured - 1))
            print(
                f"{pipeline:22}{count:3} hosts {ranks:3} ranks: measured {measured:8.1f}/s, planned from one rank "
                f"{predicted:8.1f}/s, {100 * (predicted / measured - 1):+.1f} %",
                flush=True,
            )
    return errors


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default="build/dev/loaderscope")
    parser.add_argument("--seconds", type=float, default=4)
    options = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("hosts_bench: network namespaces need root; run it with sudo")
    binary = str(pathlib.Path(options.binary).resolve())
    with tempfile.TemporaryDirectory() as folder, hosts(HOSTS) as names:
        os.environ["XDG_CACHE_HOME"] = folder
        errors = compare(names, binary, options.seconds, pathlib.Path(folder))
    median, worst = statistics.median(errors), max(errors)
    print(f"error of the rate over {len(errors)} jobs: median {100 * median:.1f} %, worst {100 * worst:.1f} %")
    return 0 if median <= 0.05 and worst <= 0.15 else 2


if __name__ == "__main__":
    sys.exit(main())
