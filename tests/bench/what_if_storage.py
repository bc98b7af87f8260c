"""What-ifs of the storage against runs: what_if_storage.py PROGRAM [--seconds 3] [--json FILE]

Runs PROGRAM on a server on loopback (tests/tools/fault_server.py) over a grid of latency x requests in flight x
bandwidth. Predicts the neighbours of every run in the grid (`what-if --set`). Prints the predictions and the
measurements, with the median and the worst error of each setting. Nothing passes or fails by it.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

TOOLS = pathlib.Path(__file__).resolve().parents[1] / "tools"
LATENCIES = (0.005, 0.01, 0.02)  # seconds; below, the cores are the limit of a small machine, and not the storage
DEPTHS = (1, 4, 16)
RATES = (None, 20e6)  # bytes per second; none: as fast as the server is
ROWS, ROW_BYTES = 512, 32768


def write_rows(path):
    header = f"{{'descr': '|u1', 'fortran_order': False, 'shape': ({ROWS}, {ROW_BYTES}), }}".ljust(117) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00\x76\x00" + header.encode() + bytes(ROWS * ROW_BYTES))


def switches(case):
    latency, _, rate = case
    return f"latency={latency}" + (f",rate={rate:.0f}" if rate else "")


def run(program, port, case, seconds, to):
    url = f"http://127.0.0.1:{port}/{switches(case)}/-/a.npy"
    words = ["run", "--data", f"npy:{url}", "--shuffle", "--num-workers", "1", "--batch-size", "16", "--device", "null"]
    words += ["--queue-depth", str(case[1]), "--duration", f"{seconds}s", "--json", str(to)]
    subprocess.run([program, *words], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    result = json.loads(to.read_text())
    return {"rate": result["throughput"]["samples_per_s"]["mean"], "requests": result["requests"]}


def changes(before, after, alone):
    """(word, --set) of each axis on which the cases differ."""
    if before[0] != after[0]:
        yield "storage.latency", f"{alone[after[0]] * 1e6:.0f}us"
    if before[1] != after[1]:
        yield "storage.in-flight", str(after[1])
    if before[2] != after[2] and after[2]:
        yield "storage.bandwidth", f"{after[2] / 1e6:.0f}MB/s"


def neighbours(case):
    for axis, values in enumerate((LATENCIES, DEPTHS, RATES)):
        for value in values:
            if value != case[axis] and not (axis == 2 and value is None):
                yield tuple(value if i == axis else old for i, old in enumerate(case))


def predicted(program, result, word, value):
    words = ["what-if", str(result), "--set", f"{word}={value}", "--json", "-"]
    answer = subprocess.run([program, *words], capture_output=True, text=True)
    if answer.returncode != 0:
        return None, answer.stderr.strip().splitlines()[-1][:120]
    said = json.loads(answer.stdout)
    if not said["predicted"]:
        return None, "the model misses the run"
    return said["predicted"]["samples_per_s"], ""


def name(case):
    latency, depth, rate = case
    return f"{latency * 1e3:g} ms x {depth:2d}" + (f", {rate / 1e6:g} MB/s" if rate else "")


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("program")
    arguments.add_argument("--seconds", type=float, default=3)
    arguments.add_argument("--json")
    given = arguments.parse_args()
    rows, errors, refused = [], {}, []
    with tempfile.TemporaryDirectory() as folder:
        home = pathlib.Path(folder)
        (home / "served").mkdir()
        write_rows(home / "served" / "a.npy")
        server = subprocess.Popen(
            [sys.executable, TOOLS / "fault_server.py", home / "served"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        port = server.stdout.readline().decode().strip()
        cases = [(latency, depth, rate) for latency in LATENCIES for depth in DEPTHS for rate in RATES]
        measured, alone = {}, {}  # alone: what a latency that was declared is, with the server's own work
        for i, case in enumerate(cases):
            measured[case] = run(given.program, port, case, given.seconds, home / f"{i}.json")
            seen = measured[case]["requests"]
            if case[1] == 1 and case[2] is None:
                alone[case[0]] = seen["alone_s"]
            print(
                f"{name(case):24} {measured[case]['rate']:8.1f} samples/s, first byte {seen['first_byte_s'] * 1e3:6.2f} ms, "
                f"last {seen['time_s'] * 1e3:6.2f} ms, in flight {seen['in_flight']:5.2f}",
                flush=True,
            )
        server.kill()
        for i, case in enumerate(cases):
            for other in neighbours(case):
                ((word, value),) = changes(case, other, alone)
                rate, why = predicted(given.program, home / f"{i}.json", word, value)
                if rate is None:
                    refused.append(f"{name(case)}: {word}={value}: {why}")
                    continue
                error = rate / measured[other]["rate"] - 1
                errors.setdefault(word, []).append(error)
                rows.append({"from": name(case), "set": f"{word}={value}", "predicted": rate, "error": error})
                rows[-1]["measured"] = measured[other]["rate"]
    print(f"\n{'from':24} {'set':28} predicted  measured   error")
    for row in rows:
        print(f"{row['from']:24} {row['set']:28} {row['predicted']:9.1f} {row['measured']:9.1f} {row['error']:+7.1%}")
    for line in refused:
        print("not predicted:", line)
    for word, all_of_it in errors.items():
        sizes = [abs(error) for error in all_of_it]
        print(f"{word}: {len(sizes)} predictions, off by {statistics.median(sizes):.1%} (median), {max(sizes):.1%} (worst)")
    sizes = [abs(error) for each in errors.values() for error in each]
    if sizes:
        print(f"all: {len(sizes)}, {statistics.median(sizes):.1%} (median), {max(sizes):.1%} (worst)")
    print(f"not predicted: {len(refused)}")
    if given.json:
        pathlib.Path(given.json).write_text(json.dumps({"rows": rows, "not_predicted": refused}, indent=1) + "\n")


main()
