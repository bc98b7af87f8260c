"""Loaders of others on the GPU, and a sweep."""
from gpu_check.images import data, wrong_with
from gpu_check.machine import needs_torch

COMPUTE_MOST = 0.03  # share of a step that should take 20 ms


def loader(part):
    needs_torch(part, "torchvision", "PIL")
    for name, compute in (("spin", "20ms"), ("products", "gemm:20ms")):
        part.attempt(name, loader_with, name, compute)


def loader_with(part, name, compute):
    result = part.run_json(
        part.program("run", "--loader", "torch:pillow", "--data", data(part), "--python", part.visit.python,
                     "--device", "cuda", "--batch", "32", "--compute", compute, "--steps", "60", "--json", "-"), 40)
    step_s = result["account"]["compute_s"] / result["window"]["steps"]
    problems = wrong_with(result)
    if abs(step_s / 0.020 - 1) > COMPUTE_MOST:
        problems.append(f"more than {100 * COMPUTE_MOST:.0f} % off 20 ms")
    part.check(name, not problems, f"a step computed {1e3 * step_s:.2f} ms, busy {100 * result['device']['busy']:.1f} "
               f"%{': ' + '; '.join(problems) if problems else ''}.", step_s=step_s, busy=result["device"]["busy"],
               notes=result["notes"])


def sweep(part):
    answer = part.run_json(
        part.program("sweep", "--vary", "workers=1,2", "--executor", "processes", "--data", data(part),
                     "--device", "cuda", "--compute", "5ms", "--steps", "60", "--budget", "15s", "--json", "-"))
    for case in answer["cases"]:
        name = ", ".join(f"{key}={value}" for key, value in case["settings"].items())
        rate = (case["samples_per_s"] or {}).get("mean") or 0
        part.check(name, not case["skipped"] and rate > 0, case["skipped"] or f"{rate:.0f} samples/s.",
                   samples_per_s=rate)
    part.check("cases", len(answer["cases"]) == 2, f"{len(answer['cases'])} of 2 cases.")
