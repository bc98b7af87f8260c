"""The published ladder, one GPU's share of four: 4,500, 8,000, 21,000 and 27,500 images/s.

Every rung reads with a delay of 93 ms each 5,000 samples, and computes 64 images in the time that they have at the
highest rung, so a faster GPU does not leave the ladder. The size of the photos is that at which the first rung gives
its rate. The model predicts the upper rungs from the rates of the decoder and of reads without delay.
"""
from gpu_check import device_work, photos
from gpu_check.programs import NotReached

BATCH = 64
TOP = 27_500  # images/s
COMMON = ("--batch", BATCH, "--compute", f"{BATCH / TOP * 1e6:.0f}us", "--in-order",
          "--inject", "read=+93ms@every=5000")
UPPER = ("--workers", 8, "--device-prefetch", 4)
RUNGS = {  # target in images/s, and words
    "1: 4 workers, pageable": (4_500, ("--workers", 4, "--memory", "pageable")),
    "2: 8 workers, pinned": (8_000, ("--workers", 8, "--memory", "pin-thread")),
    "3: engines": (21_000, (*UPPER, "--prefetch-factor", 2)),
    "4: engines, deep": (27_500, (*UPPER, "--prefetch-factor", 8)),
}
NARROWEST, WIDEST = 256, 500  # pixels
OFF_MOST = 0.15  # share of the target
CALIBRATED_MOST = 0.10
MODEL_MOST = 0.10
RUNG_S = 4
SPLIT = 0.8  # share of the engines if they alone are too slow


def photo_size(width):
    return f"{width}x{round(width * 3 / 4)}"


def width_for(rate, narrow_rate, wide_rate):
    """Returns the width at which the workers give the rate, from those at the ends. Time grows with the pixels."""
    narrow, wide = NARROWEST ** 2, WIDEST ** 2
    slope = (1 / wide_rate - 1 / narrow_rate) / (wide - narrow)
    if slope <= 0:
        return NARROWEST
    pixels = narrow + (1 / rate - 1 / narrow_rate) / slope
    return max(NARROWEST, min(WIDEST, round(max(pixels, narrow) ** 0.5 / 4) * 4))


def ladder(part):
    size = part.attempt("photos", calibrate)
    if size is None:
        return
    for name in list(RUNGS)[:2]:
        part.attempt(name, rung, name, size, "cpu")
    way = part.attempt("decoder", choose_way, size)
    for name in list(RUNGS)[2:]:
        part.attempt(name, upper_rung, name, size, way)


def calibrate(part):
    words = RUNGS["1: 4 workers, pageable"][1]
    rates = []
    for width in (NARROWEST, WIDEST):
        path = photos.manifest(part, photo_size(width))
        result = device_work.run(part, path, "--batch", BATCH, *words, seconds=1)
        rates.append(result["throughput"]["samples_per_s"]["mean"])
    size = photo_size(width_for(4_500, *rates))
    part.check("photos", True, f"{size}: 4 workers give {rates[0]:.0f} images/s of {photo_size(NARROWEST)} and "
               f"{rates[1]:.0f} of {photo_size(WIDEST)}.", size=size, rates=rates)
    return size


def choose_way(part, size):
    """Returns the way to decode on the upper rungs and its figures without a compute."""
    device_work.needs_way(part, "hw")
    result = device_work.run(part, photos.manifest(part, size), "--decode", "hw", "--batch", BATCH, *UPPER)
    found = device_work.figures(result)
    rate = device_work.own_rate(found)
    if rate == 0:
        raise NotReached("gpu-decode has no time.")
    way = "hw" if rate >= TOP else f"split:{SPLIT}"
    found["read_s"] = result["stages"]["read"]["mean_s"]
    part.check("decoder", True, f"the engines give {rate:.0f} images/s of {size} by their own time, and the run "
               f"{found['images_per_s']:.0f}: --decode {way}.", **found)
    return way, found


def rung(part, name, size, way, *more):
    target, words = RUNGS[name]
    result = device_work.run(part, photos.manifest(part, size), *COMMON, *words, "--decode", way, *more,
                             seconds=RUNG_S)
    found = device_work.figures(result)
    wrong = device_work.problems(result) if way != "cpu" else device_work.images.wrong_with(result)
    reached, most = found["images_per_s"], CALIBRATED_MOST if name.startswith("1") else OFF_MOST
    part.check(name, not wrong and abs(reached / target - 1) <= most,
               f"{reached:.0f} images/s, target {target} ({100 * (reached / target - 1):+.1f} %, at most "
               f"{100 * most:.0f} %), busy {100 * found['busy']:.1f} %{device_work.ending(wrong)}",
               **found, target=target, way=way)
    return found


def upper_rung(part, name, size, chosen):
    if chosen is None:
        raise NotReached("there is no rate of the engines.")
    way, alone = chosen
    predicted = part.attempt(f"{name}, model", predict, name, alone) if way == "hw" else None
    target, rate = RUNGS[name][0], device_work.own_rate(alone)
    if rate < target * (1 - OFF_MOST) * (1 if way == "hw" else SPLIT):
        raise NotReached(f"the engines give {rate:.0f} images/s, and the rung has {target} with --decode {way}.")
    found = rung(part, name, size, way)
    if predicted:
        off = predicted / found["images_per_s"] - 1
        part.check(f"{name}, model", abs(off) <= MODEL_MOST, f"predicted {predicted:.0f} images/s ({100 * off:+.1f} %, "
                   f"at most {100 * MODEL_MOST:.0f} %).", predicted=predicted, off=off)


def predict(part, name, alone):
    """Predicts the rung before it runs, in virtual time."""
    costs = {"read": alone["read_s"], "gpu-decode": 1 / device_work.own_rate(alone),
             "gpu-augment": 1 / device_work.own_rate(alone, "gpu-augment")}
    words = [word for stage, cost in costs.items() for word in ("--cost", f"{stage}={1e9 * cost:.0f}ns")]
    result = part.run_json(part.program(
        "run", "--engine", "model", "--device", "sim", "--source", "synthetic", "--decode", "hw", *words, *COMMON,
        *RUNGS[name][1], "--steps", "1700", "--json", "-"), device_work.EACH_S)
    return result["throughput"]["samples_per_s"]["mean"]
