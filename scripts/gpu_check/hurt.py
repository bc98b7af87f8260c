"""Damaged images, too little memory and Ctrl-C while a GPU works for the loader."""
import json
import random

from gpu_check import device_work, photos
from gpu_check.programs import Failure

MUTATED = 500
SEED = 1
CHANGES_MOST = 20  # bytes of one image
CUT_EVERY = 4  # images, the first of which is cut off
DECODES_WITHIN_S = 20
STOPPED_AFTER_S = 4
ENDS_WITHIN_S = 1
EACH_S = 15
SIZE = "500x375"
TOO_LARGE = {  # for the memory of the host, and of the GPU
    "batch": ("--batch", "1000000", "--workers", "1"),
    "batches ahead": ("--batch", "4096", "--workers", "1", "--prefetch-factor", "1", "--device-prefetch", "1000"),
}


def hurt(part):
    for name, words in TOO_LARGE.items():
        part.attempt(f"{name}, too large", refused, f"{name}, too large", words)
    for way in ("hw", "gpu", "cpu"):
        part.attempt(f"{way}, Ctrl-C", stops, f"{way}, Ctrl-C", way)
    folder, skipped = part.attempt("mutated", mutate), None
    for way in ("cpu", "hw", "gpu") if folder else ():
        found = part.attempt(f"mutated, {way}", decodes, f"mutated, {way}", folder, way, skipped)
        skipped = found if way == "cpu" else skipped
    part.attempt("afterwards", sound)


def refused(part, name, words):
    device_work.needs_way(part, "hw")
    command = part.program("run", "--index", photos.manifest(part, SIZE), "--device", "cuda", "--decode", "hw",
                           *words, "--steps", "5", "--json", "-")
    ended = part.run(command, EACH_S, expected=(0, 1, 64))
    if ended.code == 0:
        raise Failure("it was not refused (exit code 0).")
    sentences = [line for line in ended.err.splitlines() if line.startswith("loaderscope: ")]
    if len(sentences) != 1 or "memory" not in sentences[0]:
        raise Failure(f"it is refused by {len(sentences)} sentences: {ended.err.strip()[-300:]}")
    part.check(name, True, f"refused after {ended.took_s:.2f} s: {sentences[0]}", took_s=ended.took_s)


def stops(part, name, way):
    device_work.needs_way(part, way)
    command = part.program("run", "--index", photos.manifest(part, SIZE), "--device", "cuda", "--decode", way,
                           "--augment-on", "gpu", "--workers", 4, "--compute", "10ms", "--duration", "60s",
                           "--json", "-")
    ended = part.run(command, STOPPED_AFTER_S + EACH_S, expected=(130,), interrupt_after_s=STOPPED_AFTER_S)
    late_s = max(ended.took_s - STOPPED_AFTER_S, 0)
    measured = json.loads(ended.out)["interrupted"]
    part.check(name, measured and late_s < ENDS_WITHIN_S,
               f"ended {late_s:.2f} s after Ctrl-C (at most {ENDS_WITHIN_S} s).", late_s=late_s)


def mutate(part):
    """Returns a folder of photos with changed bytes. Some are cut off. The same photos give the same files."""
    chosen, files = random.Random(SEED), sorted(photos.make(part, SIZE).rglob("*.jpg"))
    folder = part.visit.scratch / "mutated"
    folder.mkdir()
    for number in range(MUTATED):
        data = bytearray(files[number % len(files)].read_bytes())
        for _ in range(chosen.randint(1, CHANGES_MOST) if data else 0):
            data[chosen.randrange(len(data))] = chosen.randrange(256)
        if data and number % CUT_EVERY == 0:
            del data[chosen.randrange(len(data)):]
        (folder / f"{number:04}.jpg").write_bytes(bytes(data))
    return folder


def decodes(part, name, folder, way, on_cpu):
    """Runs one epoch. Returns the number of skipped samples. An engine may accept what libjpeg rejects."""
    device_work.needs_way(part, way)
    result = part.run_json(part.program("run", "--data", folder, "--device", "cuda", "--decode", way, "--workers", 2,
                                        "--epochs", 1, "--warmup", 0, "--json", "-"), DECODES_WITHIN_S)
    samples, skipped = result["window"]["samples"], result["errors"]["skipped_samples"]
    counts = device_work.decode_counts(result)
    wrong = [] if samples == MUTATED else [f"{samples} of {MUTATED} samples were delivered"]
    if on_cpu is not None and skipped > on_cpu:
        wrong.append(f"a CPU skips {on_cpu}")
    part.check(name, not wrong, f"{skipped} samples skipped, {counts['engines']} decoded by engines, "
               f"{counts['cuda']} by CUDA, {counts['cpu']} by a CPU{device_work.ending(wrong)}",
               skipped=skipped, skipped_on_cpu=on_cpu, kinds=result["errors"]["by_kind"],
               decode=result.get("decode"), notes=result["notes"])
    return skipped


def sound(part):
    """Runs on sound photos after all that, so a GPU that was lost is noticed."""
    device_work.needs_way(part, "hw")
    result = device_work.run(part, photos.manifest(part, SIZE), "--decode", "hw", "--workers", 2, seconds=0.5)
    wrong = device_work.problems(result, engines_decode_all=True)
    rate = result["throughput"]["samples_per_s"]["mean"]
    part.check("afterwards", not wrong, f"{rate:.0f} images/s of sound photos{device_work.ending(wrong)}",
               images_per_s=rate)
