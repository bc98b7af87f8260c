#!/usr/bin/env python3
"""Ceilings of `loaderscope probe` against measurements of other programs, which alternate in one run. Also the cost and
the answers of `loaderscope watch`. Nothing passes or fails here: ratios are printed, as ours by theirs.

    scripts/install-deps probe-bench                                     # fio and tjbench; what is missing is said
    tests/bench/probe_bench.py build/release/loaderscope --rounds 3      # storage is measured below --folder
    tests/bench/probe_bench.py build/release/loaderscope --only watch --python "$(scripts/python-env --find)"

storage: random reads of 128 KiB past the page cache against fio's. memory: copies against a loop as STREAM's copy, which the C
compiler makes here. decode: whole images against tjbench's, of one image. watch: its CPU time while 64 workers decode.
agreement: the share of the time that a trainer waits, by `watch` and by `run --` of the same job, in points."""

import argparse
import json
import os
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
COPY_LOOP = r"""
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
enum { kNumbers = 8 << 20 };  /* 64 MiB of doubles, beyond any cache */
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + t.tv_nsec * 1e-9; }
static pthread_barrier_t together;
static void* copy(void* rate) {
  double *a = malloc(kNumbers * sizeof *a), *b = malloc(kNumbers * sizeof *b), begin, end;
  long times = 0;
  memset(a, 1, kNumbers * sizeof *a); memset(b, 1, kNumbers * sizeof *b);
  pthread_barrier_wait(&together);
  for (begin = end = now(); end - begin < 1; end = now(), ++times)
    for (long i = 0; i < kNumbers; ++i) b[i] = a[i];
  *(double*)rate = times * (double)kNumbers * sizeof *a / (end - begin);
  return NULL;
}
int main(int count, char** words) {
  int threads = count > 1 ? atoi(words[1]) : 1;
  pthread_t thread[1024]; double rate[1024], sum = 0;
  pthread_barrier_init(&together, NULL, threads);
  for (int i = 0; i < threads; ++i) pthread_create(&thread[i], NULL, copy, &rate[i]);
  for (int i = 0; i < threads; ++i) { pthread_join(thread[i], NULL); sum += rate[i]; }
  printf("%f\n", sum);
}
"""
JOB = """
import sys, time, torch
class Samples(torch.utils.data.Dataset):
    def __len__(self): return 1 << 30
    def __getitem__(self, i):
        end = time.thread_time() + 0.002
        while time.thread_time() < end: pass
        return i
loader = iter(torch.utils.data.DataLoader(Samples(), batch_size=16, num_workers=1))
end = time.time() + float(sys.argv[1])
while time.time() < end:
    next(loader)
    time.sleep(0.010)
"""


def command_output(*command, **more):
    return subprocess.run(command, check=True, capture_output=True, text=True, **more).stdout


def probe_figures(binary, *flags):
    probes = json.loads(command_output(binary, "probe", "--json", "-", *flags))["probes"]
    return {f"{name}.{figure['name']}": figure["value"] for name, row in probes.items() for figure in row["figures"]}


class Ratios:
    def __init__(self):
        self._pairs = {}

    def add(self, name, ours, theirs):
        self._pairs.setdefault(name, []).append((ours, theirs))

    def show(self, unit, scale):
        for name, pairs in self._pairs.items():
            ratios = sorted(ours / theirs for ours, theirs in pairs)
            ours, theirs = (statistics.median(side) / scale for side in zip(*pairs))
            print(f"{name:34} ours {ours:9.1f} theirs {theirs:9.1f} {unit}; ratio {statistics.median(ratios):.3f} "
                  f"[{ratios[0]:.3f}, {ratios[-1]:.3f}] of {len(ratios)}", flush=True)


def storage(binary, rounds, folder):
    ratios = Ratios()
    for _ in range(rounds):
        ours = probe_figures(binary, "--path", folder)
        with tempfile.NamedTemporaryFile(dir=folder) as file:
            for depth in (1, 4, 16):
                fio = json.loads(command_output(
                    "fio", "--name=x", f"--filename={file.name}", "--rw=randread", "--bs=128k", "--direct=1",
                    "--ioengine=psync", "--thread", f"--numjobs={depth}", "--size=512m", "--time_based", "--runtime=2",
                    "--group_reporting", "--output-format=json", "--randrepeat=0"))
                ratios.add(f"storage, {depth} at once", ours[f"storage.direct_{depth}"], fio["jobs"][0]["read"]["bw_bytes"])
    ratios.show("MB/s", 1e6)


def memory(binary, rounds, folder):
    ratios = Ratios()
    source, program = os.path.join(folder, "copy.c"), os.path.join(folder, "copy")
    with open(source, "w", encoding="utf-8") as file:
        file.write(COPY_LOOP)
    command_output("cc", "-O3", "-march=native", "-fno-tree-loop-distribute-patterns", "-o", program, source, "-lpthread")
    for _ in range(rounds):
        ours = probe_figures(binary)
        for name in [name for name in ours if name.startswith("memory.copy_") and name.rsplit("_", 1)[1].isdigit()
                     and "node" not in name]:
            threads = name.rsplit("_", 1)[1]
            ratios.add(f"memory, {threads} threads", ours[name], float(command_output(program, threads)))
    ratios.show("MB/s", 1e6)


def decode(binary, rounds, folder):
    ratios = Ratios()
    data = os.path.join(folder, "one")
    command_output(binary, "data", "make", data, "--count", "1", "--size", "1920x1080")
    image = next(os.path.join(root, name) for root, _, names in os.walk(data) for name in names if name.endswith(".jpg"))
    for _ in range(rounds):
        ours = probe_figures(binary, "--data", data)["decode.threads_1"] * 1920 * 1080
        printed = command_output("tjbench", image, "-quiet", "-nowrite", "-benchtime", "3")
        # "WIDTH HEIGHT ... Megapixels/sec", the last figure of its line.
        line = next(line for line in reversed(printed.splitlines()) if line.split() and line.split()[-1][:1].isdigit())
        ratios.add("decode, one thread", ours, float(line.split()[-1]) * 1e6)
    ratios.show("MPixel/s", 1e6)


def cpu_of_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def watch(binary, rounds, folder):
    shares = []
    for turn in range(rounds):
        with subprocess.Popen([sys.executable, os.path.join(HERE, "..", "tools", "pretend_loader.py"), "decode", "64",
                               os.path.join(folder, f"fifo{turn}")], stdout=subprocess.PIPE) as job:
            try:
                job.stdout.readline()
                before = cpu_of_children()
                watched = json.loads(command_output(binary, "watch", "--pid", str(job.pid), "--duration", "30s", "--json", "-"))
                shares.append((cpu_of_children() - before) / 30)
                assert watched["workers"]["seen"] == 64, watched["workers"]
            finally:
                job.send_signal(signal.SIGKILL)
    print(f"watch, 64 workers                  {100 * statistics.median(shares):.2f} % of one core "
          f"[{100 * min(shares):.2f}, {100 * max(shares):.2f}]", flush=True)


def agreement(binary, rounds, folder, python):
    job = os.path.join(folder, "job.py")
    with open(job, "w", encoding="utf-8") as file:
        file.write(JOB)
    differences = []
    for _ in range(rounds):
        account = json.loads(command_output(binary, "run", "--json", "-", "--", python, job, "15", stderr=None))["account"]
        stall = sum(account["stall_s"].values())
        run_share = stall / (stall + account["compute_s"])
        with subprocess.Popen([python, job, "40"]) as running:
            time.sleep(8)
            watched = json.loads(command_output(binary, "watch", "--pid", str(running.pid), "--duration", "15s", "--json", "-"))
            running.kill()
        watch_share = watched["waits"]["share"]
        differences.append(100 * (watch_share - run_share))
        print(f"the trainer waits                  {100 * run_share:.1f} % by run, {100 * watch_share:.1f} % by watch", flush=True)
    print(f"agreement                          {statistics.median(differences):+.1f} points, the most "
          f"{max(differences, key=abs):+.1f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", default=".", help="on the storage that is measured")
    parser.add_argument("--python", default="", help="with torch, for the agreement of watch and run")
    parser.add_argument("--only", default="storage,memory,decode,watch,agreement")
    given = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.2f} on {os.cpu_count()} CPUs", flush=True)
    needs = {"storage": "fio", "memory": "cc", "decode": "tjbench"}
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        for name in given.only.split(","):
            if name in needs and not shutil.which(needs[name]):
                print(f"{name}: no {needs[name]} here; scripts/install-deps probe-bench")
            elif name == "agreement" and not given.python:
                print("agreement: no --python with torch is given")
            elif name == "agreement":
                agreement(given.binary, given.rounds, folder, given.python)
            else:
                globals()[name](given.binary, given.rounds, folder)


main()
