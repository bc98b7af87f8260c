"""Rates of the GPU's decoders over seconds, by their own time and by the rate of the run. Without a compute."""
from gpu_check import device_work, photos

WAYS = ("hw", "gpu")
WORKERS = 2


def engines(part):
    for way in WAYS:
        for size in photos.PHOTOS:
            part.attempt(f"{way}, {size}", measure, f"{way}, {size}", way, size)


def measure(part, name, way, size):
    device_work.needs_way(part, way)
    result = device_work.run(part, photos.manifest(part, size), "--decode", way, "--workers", WORKERS)
    found = device_work.figures(result)
    rate = device_work.own_rate(found)
    wrong = device_work.problems(result, engines_decode_all=way == "hw")
    if rate == 0:
        wrong.append("gpu-decode has no time")
    else:
        part.visit.facts.setdefault("engine rates", {})[way, size] = found
    width, height = map(int, size.split("x"))
    megapixels = rate * width * height / 1e6
    part.check(name, not wrong, f"{rate:.0f} images/s by the time of gpu-decode ({megapixels:.0f} MP/s, "
               f"{1e3 * found.get('gpu-decode', {}).get('mean_s', 0):.3f} ms a batch), {found['images_per_s']:.0f} "
               f"images/s of the run, {found['cores_used']:.2f} cores{device_work.ending(wrong)}",
               **found, megapixels_per_s=megapixels)
