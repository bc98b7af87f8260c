"""The GPU, the driver and the versions on this machine."""
import contextlib
import json
import os
import pathlib
import platform
import resource

from gpu_check import programs
from gpu_check.programs import Failure, NotReached

QUERY = ("name", "driver_version", "pci.bus_id", "memory.total", "pcie.link.gen.max", "pcie.link.width.max",
         "clocks.sm", "clocks.max.sm", "persistence_mode", "mig.mode.current")
VERSIONS = """
import json
versions = {}
for name in ("torch", "torchvision", "PIL"):
    try:
        versions[name] = __import__(name).__version__
    except ImportError as error:
        versions[name] = None
print(json.dumps(versions))
"""


def find_gpu(folder):
    """Returns None, or the reason why there is no GPU to check."""
    try:
        rows = json.loads(programs.run([folder / "loaderscope", "list", "device", "--json"], 30).out)[0]["rows"]
    except Failure as failure:
        return str(failure)
    except ValueError:
        return "'loaderscope list device --json' printed no JSON."
    for row in rows:
        if row["name"] == "cuda":
            return None if row["available"] else row.get("reason", "the device cuda is not available.")
    return "this loaderscope has no device cuda: build it where there is a CUDA toolkit."


def name_and_driver():
    """Returns the name and the version that the driver reports."""
    with contextlib.suppress(Failure, ValueError, IndexError):
        query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
        name, driver = programs.run(query, 20).out.splitlines()[0].rsplit(",", 1)
        return name.strip(), driver.strip()
    with contextlib.suppress(OSError, IndexError):
        return "unknown", pathlib.Path("/proc/driver/nvidia/version").read_text().splitlines()[0]
    return "unknown", "unknown"


def describe(part):
    part.attempt("nvidia-smi", smi)
    part.attempt("loaderscope", own_versions)
    part.attempt("host", host)
    part.attempt("python", python_versions)


def smi(part):
    try:
        part.run(["nvidia-smi", "-q"], 15)
        ended = part.run(["nvidia-smi", f"--query-gpu={','.join(QUERY)}", "--format=csv,noheader"], 15)
    except Failure as failure:
        raise NotReached(str(failure)) from None  # the driver may well be here without it
    values = [value.strip() for value in ended.out.splitlines()[0].split(",")]
    figures = dict(zip(QUERY, values))
    part.check("nvidia-smi", len(values) == len(QUERY), ", ".join(values) + ".", **figures)


def own_versions(part):
    version = part.run(part.program("--version"), 10).out.strip()
    part.run(part.program("list"), 20)  # output for the log
    part.check("loaderscope", True, version.replace("\n", "; "), version=version)


def host(part):
    cpus = len(os.sched_getaffinity(0))
    locked = resource.getrlimit(resource.RLIMIT_MEMLOCK)[0]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    part.check("host", True, f"{cpus} CPUs, {memory >> 30} GiB, kernel {platform.release()}.", cpus=cpus,
               memory_bytes=memory, memlock_bytes=locked, kernel=platform.release())


def python_versions(part):
    try:
        versions = part.run_json([part.visit.python, "-c", VERSIONS], 40)
    except Failure as failure:
        raise NotReached(f"no torch: {failure}") from None
    part.visit.facts["torch"] = versions
    if not versions["torch"]:
        raise NotReached(f"no torch: {part.visit.python} has none.")
    part.check("python", True, f"torch {versions['torch']}, torchvision {versions['torchvision']}.", **versions)


def needs_torch(part, *more):
    """NotReached: the Python that is used here lacks it."""
    versions = part.visit.facts.get("torch") or {}
    for name in ("torch", *more):
        if not versions.get(name):
            raise NotReached(f"no {name}: {part.visit.python} has none.")
