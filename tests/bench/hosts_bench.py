#!/usr/bin/env python3
"""Jobs over several hosts against the plan made from one rank.

Network namespaces are the hosts, on a bridge. For each pipeline one rank is measured alone, and
`loaderscope plan` predicts the rate of a job of more ranks. Then the job runs over the hosts
(`run --rendezvous env`, a step of all ranks together), and the rates are compared. Weak scaling:
each rank has the batch of the measured rank. Strong scaling: the ranks divide that batch, and a
step computes less in proportion. The plan gets these values by --set batch-size and --step. With
--store-rate one more pipeline reads arrays from a web server in a namespace of its own. Its link is
shaped to that rate, headers included. The plan gets the rate that curl measures by --storage:

    sudo tests/bench/hosts_bench.py [--binary build/dev/loaderscope] [--seconds 4]

Costs are declared and sleep, so that two cores are enough for all ranks. A job that got no plan is
counted. Exit code 2 where the errors of the rate are larger than is promised: their median 5 %, the
worst 15 %.
"""

import argparse
import contextlib
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

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
STRONG = {  # batch and compute of one rank, in milliseconds, and what else
    "strong, decode": (32, 48, "--cost decode=lognormal:4ms:0.5:sleep --workers 2"),
    "strong, collate": (16, 32, "--cost decode=2ms:sleep --cost collate=exponential:4ms:sleep --workers 2"),
}
STORE_ROWS, STORE_ROW_BYTES, STORE_PORT, STORE_TIMES = 1000, 60_000, 8000, 5
STORE = "--shuffle --compute 30ms --workers 2 --batch 8"
COMMON = "--device sim --sync-ranks --seed 3 --force".split()


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


@contextlib.contextmanager
def store(switch, rate, folder):
    """One more host on the bridge, which serves arrays and sends `rate` bytes per second."""
    name, served = f"ls{os.getpid()}-store", folder / "served"
    served.mkdir()
    head = f"{{'descr': '|u1', 'fortran_order': False, 'shape': ({STORE_ROWS}, {STORE_ROW_BYTES}), }}"
    head = head.ljust(117) + "\n"
    with open(served / "a.npy", "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode())
        file.write(os.urandom(STORE_ROW_BYTES) * STORE_ROWS)
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    temporary = "".join(f"{kind}_temp_path {folder}/{kind};" for kind in kinds)
    (folder / "nginx.conf").write_text(
        f"daemon off; master_process off; pid {folder}/pid; error_log {folder}/error.log;"
        f"events {{ worker_connections 512; }} http {{ access_log off; {temporary}"
        f"server {{ listen {STORE_PORT}; root {served}; }} }}"
    )
    ip("netns", "add", name)
    process = None
    try:
        ip("-n", switch, "link", "add", "vs", "type", "veth", "peer", "name", "eth0", "netns", name)
        ip("-n", switch, "link", "set", "vs", "master", "br0", "up")
        ip("-n", name, "addr", "add", "10.77.0.200/24", "dev", "eth0")
        ip("-n", name, "link", "set", "eth0", "up")
        shape = f"dev eth0 root tbf rate {8 * rate}bit burst 64kb latency 2s".split()
        subprocess.run(["tc", "-n", name, "qdisc", "add", *shape], check=True)
        nginx = shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin")
        command = ["ip", "netns", "exec", name, nginx, "-c", folder / "nginx.conf", "-p", folder]
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL)
        time.sleep(1)
        url = f"http://10.77.0.200:{STORE_PORT}/a.npy"
        get = ["ip", "netns", "exec", switch, "curl", "-s", "-o", os.devnull, "-w", "%{speed_download}", url]
        given = max(float(subprocess.run(get, check=True, stdout=subprocess.PIPE, text=True).stdout) for _ in range(3))
        print(f"the store gives {given / 1e6:.1f} MB/s", flush=True)
        yield f"npy:{url}", given
    finally:
        if process is not None:
            process.kill()
            process.wait()
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


def read_rate(path):
    return json.loads(path.read_text())["throughput"]["samples_per_s"]["mean"]


def planned(binary, one, hosts, ranks, path, more=()):
    command = [binary, "plan", "--from", one, "--ranks", str(ranks), "--hosts", str(hosts)]
    command += ["--json", path, "--force", *more]
    ended = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if ended.returncode != 0:
        print(f"no plan: {ended.stderr.strip()}", flush=True)
        return None
    return next(size["samples_per_s"] for size in json.loads(path.read_text())["sizes"] if size["ranks"] == ranks)


class Bench:
    def __init__(self, names, binary, seconds, folder):
        self.names, self.binary, self.seconds = names, binary, seconds
        self.one, self.job, self.plan = (folder / f"{name}.json" for name in ("one", "job", "plan"))
        self.errors, self.unplanned = [], 0

    def words(self, costs, path):
        source = [] if "--data" in costs else ["--source", "synthetic"]
        return [*source, *COMMON, *costs.split(), "--duration", f"{self.seconds}s", "--json", path]

    def measure_one(self, costs):
        # Runs on the job's first host, which can reach a store.
        command = ["ip", "netns", "exec", self.names[0], self.binary, "run", *self.words(costs, self.one)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    def compare(self, pipeline, costs, count, ranks, more=()):
        run_job(self.names[:count], ranks, self.words(costs, self.job), self.binary)
        measured, predicted = read_rate(self.job), planned(self.binary, self.one, count, ranks, self.plan, more)
        if predicted is None:
            self.unplanned += 1
            return
        self.errors.append(abs(predicted / measured - 1))
        print(
            f"{pipeline:22}{count:3} hosts {ranks:3} ranks: measured {measured:8.1f}/s, planned from one rank "
            f"{predicted:8.1f}/s, {100 * (predicted / measured - 1):+.1f} %",
            flush=True,
        )

    def weak(self):
        for pipeline, costs in PIPELINES.items():
            self.measure_one(costs)
            for count, ranks in SIZES:
                self.compare(pipeline, costs, count, ranks)

    def strong(self):
        for pipeline, (batch, compute, costs) in STRONG.items():
            self.measure_one(f"{costs} --batch {batch} --compute {compute}ms")
            for count, ranks in SIZES:
                if batch % ranks != 0:
                    continue
                own, step = batch // ranks, f"{compute / ranks:g}ms"
                changes = ("--set", f"batch-size={own}", "--step", step)
                self.compare(pipeline, f"{costs} --batch {own} --compute {step}", count, ranks, changes)

    def shared_store(self, rate, folder):
        self.seconds *= STORE_TIMES  # a step of many ranks takes long where the store is full
        with store(self.names[0], rate, folder) as (data, given):
            reading = f"--data {data} {STORE}"
            self.measure_one(reading)
            for count, ranks in SIZES:
                self.compare("arrays from a store", reading, count, ranks, ("--storage", f"{given:.0f}B/s"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default="build/dev/loaderscope")
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--store-rate", type=int, default=0, metavar="BYTES_PER_S", help="0: no store")
    options = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("hosts_bench: network namespaces need root; run it with sudo")
    binary = str(pathlib.Path(options.binary).resolve())
    with tempfile.TemporaryDirectory() as folder, hosts(HOSTS) as names:
        os.environ["XDG_CACHE_HOME"] = folder
        bench = Bench(names, binary, options.seconds, pathlib.Path(folder))
        bench.weak()
        bench.strong()
        if options.store_rate > 0:
            bench.shared_store(options.store_rate, pathlib.Path(folder))
    errors = bench.errors
    if bench.unplanned > 0:
        print(f"{bench.unplanned} jobs got no plan")
    median, worst = statistics.median(errors), max(errors)
    print(f"error of the rate over {len(errors)} jobs: median {100 * median:.1f} %, worst {100 * worst:.1f} %")
    return 0 if median <= 0.05 and worst <= 0.15 else 2


if __name__ == "__main__":
    sys.exit(main())
