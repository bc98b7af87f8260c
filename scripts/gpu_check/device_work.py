"""Runs whose GPU works for the loader: their photos, their command lines and their figures."""
from gpu_check import images
from gpu_check.programs import Failure, NotReached

ROWS = 40_000  # rows of a manifest; an epoch then lasts a second or more, because each begins with empty queues
DATA = "500x375"  # size of the images of the line 'data', which are photos, too
PHOTOS = {"256x256": 2000, DATA: 1000, "1280x720": 300, "1920x1080": 150}
OTHER_PHOTOS = 1000  # number for any other size
WARMUP = "300ms"
EACH_S = 15
MAKE_S = 20
DEVICE_STAGES = ("h2d", "gpu-decode", "gpu-augment")
ENGINES_LEAST = 0.99  # share of baseline images that the engines decode


def photos(part, size, *more):
    """Returns a folder of photos of one size. Makes it first if no line made it before."""
    folders = part.visit.facts.setdefault("photos", {DATA: images.data(part)})
    key = " ".join((size, *more))
    if key not in folders:
        folders[key] = None  # value for photos that could not be made
        folder = part.visit.scratch / f"photos-{key.replace(' ', '-')}"
        part.run(part.program("data", "make", folder, "--count", PHOTOS.get(size, OTHER_PHOTOS), "--size", size, *more,
                              "--no-progress"), MAKE_S)
        folders[key] = folder
    if folders[key] is None:
        raise NotReached(f"the photos of {key} could not be made.")
    return folders[key]


def manifest(part, size, *more):
    """Returns a manifest that repeats the photos of one size."""
    folder = photos(part, size, *more)
    path = part.visit.scratch / f"{folder.name}.csv"
    if not path.exists():
        files = sorted(folder.rglob("*.jpg"))
        if not files:
            raise Failure(f"there are no photos in {folder}.")
        rows = [f"{file},0\n" for file in files]
        path.write_text("path,label\n" + "".join(rows * -(-ROWS // len(rows))))
    return path


def needs_way(part, name):
    """Raises NotReached with the reason if the GPU cannot decode in this way."""
    ways = part.visit.facts.get("decode ways")
    if ways is None:
        families = part.run_json(part.program("list", "decode", "--json"), EACH_S)
        ways = part.visit.facts["decode ways"] = {row["name"]: row for row in families[0]["rows"]}
    if name not in ways:
        raise Failure(f"'loaderscope list decode' has no row {name}.")
    if not ways[name]["available"]:
        raise NotReached(f"--decode {name}: {ways[name].get('reason', 'not available here.')}")


def run(part, manifest_path, *words, seconds=1.5, limit_s=EACH_S):
    """Returns the result of a run on the GPU whose files are in the page cache."""
    return part.run_json(part.program("run", "--index", manifest_path, "--device", "cuda", "--cache", "warm", *words,
                                      "--duration", f"{1000 * seconds:.0f}ms", "--warmup", WARMUP, "--json", "-"),
                         limit_s)


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
