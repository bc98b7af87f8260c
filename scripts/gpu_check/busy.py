"""Busy: our account against the kernels that CUPTI saw in the same run."""
import json
import statistics

from gpu_check.model import PIPELINES
from gpu_check.programs import Failure

BUSY_MOST = 0.01  # share of the window
CLAMPED_MOST = 0.01  # share of the window
CLOCKS_MOST_NS = 200_000  # a step's end on our clock against that of its kernel
PRODUCTS_MOST = 0.03  # share of the requested step time
EDGE = 20  # steps at the beginning and at the end
QUEUED_MOST_NS = 5_000  # largest gap of a GPU, watched by CUPTI, between two queued kernels

FAST = ["--source", "synthetic", "--workers", "2", "--batch", "4", "--delivered-bytes", "1KB",
        "--cost", "decode=100us:sleep", "--duration", "4s"]
CASES = {
    "one kernel": PIPELINES["decode"],
    "steps of 1 ms": [*FAST, "--compute", "1ms"],
    "300 launches": [*FAST, "--compute", "2ms", "--launches", "300"],
    "graph": [*FAST, "--compute", "2ms", "--launches", "300", "--graph"],
    "products": [*FAST, "--compute", "gemm:20ms"],
}
ONE_KERNEL = ("one kernel", "steps of 1 ms")  # pipelines whose step ends with its kernel


def busy(part):
    library(part)
    for name, words in CASES.items():
        part.attempt(name, check_case, name, words)


def library(part):
    path = part.visit.folder / "libloaderscope_cupti_check.so"
    if not path.exists():
        raise Failure(f"there is no {path.name}: build it where the CUDA toolkit has CUPTI.")
    return str(path.resolve())


def check_case(part, name, words):
    file = part.visit.scratch / f"cupti.{name.replace(' ', '-')}.jsonl"
    result = part.run_json(part.program("run", *words, "--device", "cuda", "--json", "-"), 20,
                           environment={"CUDA_INJECTION64_PATH": library(part), "LOADERSCOPE_CUPTI_FILE": str(file)})
    kernels, lost = read_kernels(file)
    gap = queued_gap(kernels)
    file.unlink()
    rank = result["ranks"][0]
    begin, end = (rank["first_ask_ns"] + round(rank["window"][key] * 1e9) for key in ("begin_s", "end_s"))
    bare = union(kernels, begin, end) / (end - begin)
    seen = union(kernels, begin, end, 2 * gap) / (end - begin)
    ours = result["device"]["busy"]
    part.check(name, abs(ours - seen) <= BUSY_MOST and lost == 0,
               f"our account {100 * ours:.2f} %, CUPTI {100 * seen:.2f} % (at most {100 * BUSY_MOST:.0f} "
               f"points apart; {100 * bare:.2f} % without the {gap / 1e3:.2f} us between queued kernels), {lost} "
               "records lost.", ours=ours, cupti=seen, without_gaps=bare, gap_ns=gap, kernels=len(kernels), lost=lost)
    check_clamped(part, name, result)
    if name in ONE_KERNEL:
        part.attempt(f"{name}, clocks", check_clocks, f"{name}, clocks", result, kernels)
    if name == "products":
        check_products(part, result)


def read_kernels(path):
    """Intervals on the host's clock in ns, and how many records were lost."""
    if not path.exists():
        raise Failure("CUPTI was not loaded into the run: the driver did not heed CUDA_INJECTION64_PATH.")
    records = [json.loads(line) for line in path.read_text().splitlines()]
    for record in records:
        if record["kind"] == "error":
            raise Failure(f"CUPTI cannot record here: {record['message']}.")
    kernels = [(record["begin_ns"], record["end_ns"]) for record in records if record["kind"] == "kernel"]
    if not kernels:
        raise Failure("CUPTI saw no kernel.")
    return kernels, sum(record["count"] for record in records if record["kind"] == "lost")


def queued_gap(kernels):
    """Returns the median gap between kernels in ns. 0 if it is longer than the GPU's own gaps, because launches of the
    host come in between.
    """
    ordered = sorted(kernels)
    gaps = [max(after[0] - before[1], 0) for before, after in zip(ordered, ordered[1:])]
    median = statistics.median(gaps) if gaps else 0
    return median if median <= QUEUED_MOST_NS else 0


def union(intervals, begin, end, bridged=0):
    """The time in [begin, end) that at least one interval covers, and that between two of them where it is no more than
    `bridged`."""
    covered, reached = 0, begin
    for first, last in sorted(intervals):
        if 0 < first - reached <= bridged:
            first = reached
        first, last = max(first, reached), min(last, end)
        if last > first:
            covered += last - first
            reached = last
    return covered


def check_clamped(part, name, result):
    share = result["account"]["clamped_s"] / result["window"]["wall_s"]
    part.check(f"{name}, clamped", share <= CLAMPED_MOST,
               f"{100 * share:.2f} % of the window was moved to keep cause before effect (at most "
               f"{100 * CLAMPED_MOST:.0f} %).", share=share)


def check_clocks(part, name, result, kernels):
    first_ask = result["ranks"][0]["first_ask_ns"]
    ends = [first_ask + round(step["compute_end_s"] * 1e9) for step in result["steps"] if not step["warmup"]]
    off = [min((kernel[1] - end for kernel in kernels), key=abs) for end in ends[:EDGE] + ends[-EDGE:]]
    first, last = statistics.median(off[:EDGE]), statistics.median(off[EDGE:])
    worst = max(off, key=abs)
    part.check(name, abs(worst) <= CLOCKS_MOST_NS,
               f"CUPTI's ends of the first {EDGE} steps are {first / 1e3:+.1f} us from ours, of the last "
               f"{last / 1e3:+.1f} us, at worst {worst / 1e3:+.1f} us (at most {CLOCKS_MOST_NS / 1e3:.0f} us).",
               first_ns=first, last_ns=last, worst_ns=worst)


def check_products(part, result):
    times = [step["compute_end_s"] - step["compute_begin_s"] for step in result["steps"] if not step["warmup"]]
    first, last = statistics.median(times[:EDGE]), statistics.median(times[-EDGE:])
    off = max(abs(first / 0.020 - 1), abs(last / 0.020 - 1))
    part.check("products, time", off <= PRODUCTS_MOST,
               f"steps of 20 ms took {1e3 * first:.2f} ms at first and {1e3 * last:.2f} ms at last (at most "
               f"{100 * PRODUCTS_MOST:.0f} % off).", first_s=first, last_s=last, notes=result["notes"])
