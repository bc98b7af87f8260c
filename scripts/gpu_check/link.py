"""The link. `loaderscope probe link --json -` prints
  {"schema": "loaderscope.probe-link/1", "device": {"name": "NVIDIA H100 80GB HBM3"},
   "link": [{"memory": "pinned-slots", "copy": "async", "bytes": 65536,
             "bytes_per_s": 5.1e9, "bare_bytes_per_s": 5.2e9, "fallback": null}, ...]}
with one row per memory mode, copy mode and size. bare_bytes_per_s is a loop of cudaMemcpyAsync without code of
loaderscope, measured in the same run.
"""
from gpu_check import programs
from gpu_check.programs import Failure

PINNED_LEAST = 0.97  # share of the bare loop of cudaMemcpyAsync in the same run
SIZES = (64 << 10, 256 << 20)  # the matrix reaches from one to the other


def probe(part):
    answer = part.run_json(part.program("probe", "link", "--json", "-"))
    if answer.get("schema") != "loaderscope.probe-link/1":
        raise Failure(f"the probe has the schema {answer.get('schema')}, not loaderscope.probe-link/1.")
    return answer["link"]


def alone(part):
    rows = probe(part)
    part.visit.facts["link"] = rows
    sizes = sorted({row["bytes"] for row in rows})
    part.check("sizes", sizes and sizes[0] <= SIZES[0] and sizes[-1] >= SIZES[1],
               f"{len(rows)} rows of {len(sizes)} sizes.", rows=rows)
    part.attempt("pinned", pinned, rows)
    part.attempt("no fallback", no_fallback, rows)


def pinned(part, rows):
    # With `sync` the host waits for each copy, which the bare loop does not.
    counted = [row for row in rows if row["memory"] == "pinned-slots" and row["copy"] != "sync"]
    if not counted:
        raise Failure("the probe has no row of pinned-slots.")
    worst = min(counted, key=lambda row: row["bytes_per_s"] / row["bare_bytes_per_s"])
    ratio = worst["bytes_per_s"] / worst["bare_bytes_per_s"]
    part.check("pinned", ratio >= PINNED_LEAST,
               f"at worst {ratio:.3f} of the bare loop ({worst['copy']}, {worst['bytes']} bytes; at least "
               f"{PINNED_LEAST}).", worst_ratio=ratio, worst=worst)


def no_fallback(part, rows):
    fell = sorted({(row["memory"], row["fallback"]) for row in rows if row.get("fallback")})
    part.check("no fallback", not fell, "; ".join(f"{memory}: {why}" for memory, why in fell)
               or "memory of every mode is what it says.")


def loaded(part):
    workers = part.program("run", "--data", part.fact("data", "there are no images to load."), "--device", "null",
                           "--duration", "600s", "--json", "/dev/null")
    with programs.output_files() as files, programs.started(workers, files) as process:
        rows = probe(part)
        if process.poll() is not None:
            raise Failure(f"the workers ended with exit code {process.returncode} before the probe.")
    part.visit.facts["loaded link"] = rows
    fastest = max(row["bytes_per_s"] for row in rows)
    part.check("while workers decode", fastest > 0, f"fastest {fastest / 1e9:.1f} GB/s.", rows=rows)


def rate_near(rows, memory, copy, size):
    """Bytes per second of the largest probed copy that is no larger; None where that was not probed."""
    memory = "pinned-slots" if memory == "pin-thread" else memory  # the same memory
    fit = [row for row in rows if (row["memory"], row["copy"]) == (memory, copy) and row["bytes"] <= size]
    return max(fit, key=lambda row: row["bytes"])["bytes_per_s"] if fit else None
