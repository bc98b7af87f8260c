"""Runs whose GPU works for the loader: their command lines and their figures."""
import os

from gpu_check import images, jpeg
from gpu_check.programs import Failure, NotReached
from gpu_check.runner import FAILED

WARMUP = "300ms"
EACH_S = 15
NVJPEG = "LOADERSCOPE_NVJPEG"  # variable with the path of the library
DEVICE_STAGES = ("h2d", "gpu-decode", "gpu-augment")
ENGINES_LEAST = 0.99  # share of baseline images that the engines decode


def needs_way(part, name):
    """Raises NotReached with the reason if the GPU cannot decode in this way."""
    ways = part.visit.facts.get("decode ways")
    if ways is None:
        ways = part.visit.facts["decode ways"] = find_ways(part)
    if name not in ways:
        raise Failure(f"'loaderscope list decode' has no row {name}.")
    if not ways[name]["available"]:
        raise NotReached(f"--decode {name}: {ways[name].get('reason', 'not available here.')}")


def find_ways(part):
    """Returns the ways to decode. If loaderscope does not find nvJPEG and gpu-check does, that is a failure, and the
    lines continue with the library that gpu-check found.
    """
    ways = list_ways(part)
    found = jpeg.libraries(part) if not ways["gpu"]["available"] and NVJPEG not in os.environ else []
    if found:
        part.say(FAILED, "nvJPEG", f"loaderscope does not use {found[0]}: {ways['gpu'].get('reason')}", path=found[0])
        os.environ[NVJPEG] = found[0]
        ways = list_ways(part)
    return ways


def list_ways(part):
    families = part.run_json(part.program("list", "decode", "--json"), EACH_S)
    return {row["name"]: row for row in families[0]["rows"]}


def run(part, manifest_path, *words, seconds=1.5, limit_s=EACH_S):
    """Returns the result of a run on the GPU whose files are in the page cache."""
    return part.run_json(part.program("run", "--index", manifest_path, "--device", "cuda", *words, "--duration",
                                      f"{1000 * seconds:.0f}ms", "--warmup", WARMUP, "--json", "-"), limit_s)


def figures(result):
    """Returns the figures of the work on the device in a run."""
    samples, wall_s, cpu_s = result["window"]["samples"], result["window"]["wall_s"], result["process"]["cpu_s"]
    stages, counts = result["stages"], decode_counts(result)
    found = {"samples": samples, "wall_s": wall_s, "images_per_s": result["throughput"]["samples_per_s"]["mean"],
             "images_per_s_ci95": result["throughput"]["samples_per_s"].get("ci95"),
             "busy": result["device"]["busy"], "batches": result["window"]["steps"],
             "process_cpu_s_per_image": cpu_s / samples, "cores_used": cpu_s / wall_s,
             "stage_cpu_s_per_image": {name: stage["cpu_s"] / samples for name, stage in stages.items()},
             "work_cpu_s_per_image": work_cpu_s(stages) / samples,
             "shares": {way: count / max(1, sum(counts.values())) for way, count in counts.items()},
             "refused": refusals(result),
             "stall_s": result["account"]["stall_s"], "notes": result["notes"]}
    on_gpu = samples * (found["shares"]["engines"] + found["shares"]["cuda"])
    for name, images_done in (("gpu-decode", on_gpu), ("gpu-augment", samples)):
        stage = stages.get(name)
        if stage and stage["wall_s"] > 0:
            found[name] = {"count": stage["count"], "mean_s": stage["mean_s"], "p99_s": stage["p99_s"],
                           "images_per_s": images_done / stage["wall_s"]}
    return found


def decode_counts(result):
    return {way: (result.get("decode") or {}).get(f"by_{way}", 0) for way in ("engines", "cuda", "cpu")}


def refusals(result):
    """Returns how many images the device refused, per reason."""
    counts = result.get("decode") or {}
    return {key.removeprefix("refused_"): count for key, count in counts.items() if key.startswith("refused_")}


def work_cpu_s(stages):
    """CPU time of decoding and augmenting in s. One submission is in all stages of the device, and counts once."""
    submitted = max((stages[name]["cpu_s"] for name in DEVICE_STAGES if name in stages), default=0)
    return submitted + sum(stages[name]["cpu_s"] for name in ("decode", "augment") if name in stages)


def problems(result, engines_decode_all=False):
    """Returns sentences on facts that are wrong for any such run."""
    found = images.wrong_with(result)
    if "gpu-augment" not in result["stages"]:
        found.append("the stage gpu-augment is missing")
    if engines_decode_all:
        counts = decode_counts(result)
        share = counts["engines"] / max(1, sum(counts.values()))
        if share < ENGINES_LEAST:
            found.append(f"engines decoded {100 * share:.1f} % of the images (at least {100 * ENGINES_LEAST:.0f} %)")
    return found


def ending(found):
    return f": {'; '.join(found)}." if found else "."


def own_rate(found, stage="gpu-decode"):
    """Images per second of a stage by its own time. 0 if the stage has no time."""
    return found.get(stage, {}).get("images_per_s", 0)
