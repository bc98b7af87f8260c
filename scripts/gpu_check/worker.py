"""Runs whose GPU decodes or augments: their rate, host CPU, account and kernel."""
from gpu_check import device_work, machine, photos, tests

TESTS = "*Augment*:*Jpeg*:*Nvjpeg*:*Decode*"
SIZE = "500x375"
WORK_CPU_MOST_S = 36e-6  # host CPU per image, 0.05 of the CPU path
RATES_LEAST = {"H100": 21_000, "H200": 30_000}  # images/s with at most CORES_MOST cores
CORES_MOST = 2
MIXED_SHARE = 0.1  # share of progressive images
MIXED_MOST = 0.03  # distance of the share that a CPU decodes from it
RESIDENT = 16_000  # samples in GPU memory, 1.8 GB
DEPTHS = (1, 3)
BATCH = 256
BYTES = {"f32": 4, "f16": 2}
CROP = 224  # pixels


def worker_tests(part):
    tests.gpu_tests(part, TESTS)


def native(part):
    for workers, seconds in ((1, 3), (2, 5), (4, 3)):
        part.attempt(f"workers {workers}", native_run, f"workers {workers}", workers, seconds)
    part.attempt("mixed", mixed)
    part.attempt("resident", resident)


def native_run(part, name, workers, seconds):
    device_work.needs_way(part, "hw")
    result = device_work.run(part, photos.manifest(part, SIZE), "--decode", "hw", "--workers", workers,
                             seconds=seconds)
    found = device_work.figures(result)
    part.visit.facts.setdefault("native", {})[workers] = found
    wrong = device_work.problems(result, engines_decode_all=True)
    part.check(name, not wrong, f"{rates(found)}{device_work.ending(wrong)}", **found)
    cpu_s = found["work_cpu_s_per_image"]
    part.check(f"{name}, CPU", cpu_s <= WORK_CPU_MOST_S,
               f"decode and augment take {1e6 * cpu_s:.1f} us of host CPU per image (at most "
               f"{1e6 * WORK_CPU_MOST_S:.0f} us).", work_cpu_s_per_image=cpu_s)
    least = least_rate() if workers == CORES_MOST else None
    if least is not None:
        part.check("2 cores", found["images_per_s"] >= least and found["cores_used"] <= CORES_MOST,
                   f"{found['images_per_s']:.0f} images/s with {found['cores_used']:.2f} cores (at least {least} with "
                   f"at most {CORES_MOST} on this GPU).", images_per_s=found["images_per_s"], least=least)


def least_rate():
    """Returns the rate that this GPU must give. None if no rate is known."""
    device = machine.name_and_driver()[0]
    return next((rate for gpu, rate in RATES_LEAST.items() if gpu in device), None)


def rates(found):
    shares = ", ".join(f"{way} {100 * share:.1f} %" for way, share in found["shares"].items())
    return (f"{found['images_per_s']:.0f} images/s, {1e6 * found['process_cpu_s_per_image']:.1f} us of host CPU per "
            f"image, {found['cores_used']:.2f} cores, decoded by {shares}")


def mixed(part):
    """Runs on photos of which some are progressive. The engines refuse these."""
    device_work.needs_way(part, "hw")
    path = photos.manifest(part, SIZE, "--progressive-share", str(MIXED_SHARE))
    result = device_work.run(part, path, "--decode", "hw", "--workers", 4)
    found = device_work.figures(result)
    wrong = device_work.problems(result)
    if abs(found["shares"]["cpu"] - MIXED_SHARE) > MIXED_MOST:
        wrong.append(f"{100 * MIXED_SHARE:.0f} % are progressive")
    part.check("mixed", not wrong, f"{rates(found)}, refused: {found['refused']}{device_work.ending(wrong)}", **found)


def resident(part):
    """Runs on photos that the GPU keeps. It decodes them from its own memory."""
    device_work.needs_way(part, "hw")
    result = device_work.run(part, photos.manifest(part, SIZE), "--decode", "hw", "--resident", "stored",
                             "--samples", RESIDENT, "--workers", 2, seconds=2)
    found = device_work.figures(result)
    wrong = device_work.problems(result, engines_decode_all=True) + resident_problems(result)
    kept = result["memory"]["gpu_data_bytes"]
    load_s = result["first_batch"]["by_cause"]["read"]
    part.check("resident", not wrong, f"{rates(found)}, {kept / 1e9:.2f} GB in GPU memory after {load_s:.1f} s"
               f"{device_work.ending(wrong)}", **found, kept_bytes=kept, load_s=load_s)


def resident_problems(result):
    done = [name for name in ("read", "decode") if result["stages"].get(name, {"count": 0})["count"] > 0]
    found = [f"workers still {name} samples" for name in done]
    if not result["memory"].get("gpu_data_bytes"):
        found.append("the GPU keeps no data")
    return found


def account(part):
    for depth in DEPTHS:
        part.attempt(f"device-prefetch {depth}", account_run, f"device-prefetch {depth}", depth)


def account_run(part, name, depth):
    device_work.needs_way(part, "hw")
    result = device_work.run(part, photos.manifest(part, SIZE), "--decode", "hw", "--compute", "gemm:10ms",
                             "--batch", BATCH, "--workers", 4, "--device-prefetch", depth, seconds=3)
    found = device_work.figures(result)
    wrong = device_work.problems(result, engines_decode_all=True)
    booked, window_s = result["account"], result["window"]["wall_s"]
    parts = {key: booked.get(key) for key in ("compute_s", "stall_s", "why", "on_device_s", "lane_wait_s", "shared_s")}
    open_s = window_s - booked["compute_s"] - sum(booked["stall_s"].values())
    step_s = booked["compute_s"] / result["window"]["steps"]
    depth_share = booked["why"]["depth_s"] / window_s
    part.check(name, not wrong, f"busy {100 * result['device']['busy']:.1f} %, {largest(booked['stall_s'], window_s)}, "
               f"why depth {100 * depth_share:.1f} %, a step of 10 ms computed {1e3 * step_s:.2f} ms, shared "
               f"{100 * (booked.get('shared_s') or 0) / window_s:.1f} %, account open by {open_s:.9f} s"
               f"{device_work.ending(wrong)}", **{**found, **parts}, open_s=open_s, step_s=step_s)


def largest(stall_s, window_s, most=3):
    causes = sorted(stall_s.items(), key=lambda cause: -cause[1])[:most]
    return ", ".join(f"{name} {100 * seconds / window_s:.1f} %" for name, seconds in causes)


def kernel(part):
    for transfer in BYTES:
        part.attempt(transfer, kernel_run, transfer)


def kernel_run(part, transfer):
    result = device_work.run(part, photos.manifest(part, SIZE), "--decode", "cpu", "--augment-on", "gpu",
                             "--batch", BATCH, "--transfer", transfer, "--drop-last", seconds=3)
    found = device_work.figures(result)
    wrong = device_work.problems(result)
    moved = kernel_bytes(result, transfer)
    augment = found.get("gpu-augment", {"mean_s": 0})
    gigabytes = moved / augment["mean_s"] / 1e9 if augment["mean_s"] else 0
    part.check(transfer, not wrong and gigabytes > 0,
               f"gpu-augment takes {1e6 * augment['mean_s']:.1f} us a batch of {BATCH}, "
               f"{device_work.own_rate(found, 'gpu-augment'):.0f} images/s, {gigabytes:.1f} GB/s read and written"
               f"{device_work.ending(wrong)}", **found, bytes_per_batch=moved, bytes_per_s=1e9 * gigabytes)


def kernel_bytes(result, transfer):
    """Bytes that the kernel reads and writes for a mean batch. It reads what the link carried."""
    copied = result["stages"].get("h2d", {"bytes": 0, "count": 0})
    carried = copied["bytes"] / copied["count"] if copied["count"] else 0
    return carried + result["window"]["samples"] / result["window"]["steps"] * 3 * CROP * CROP * BYTES[transfer]
