"""A training script of its own under 'run -- python': is it as fast as without us, and is our busy CUPTI's?"""
import json
import math
import os
import pathlib

from gpu_check import busy
from gpu_check.images import data
from gpu_check.machine import needs_torch
from gpu_check.programs import Failure, NotReached

SCRIPT = pathlib.Path(__file__).resolve().parent / "train_resnet50.py"
COSTS_MOST = 0.02  # share of a step
READY = ("--ready", "--steps", "150", "--batch", "256")  # the GPU is the limit, as where training is set up well
COMPUTE_MOST = 0.03  # share of a step's compute; two runs are compared
EACH_S = 90  # compiling a model takes most of that


def training(part):
    needs_torch(part, "torchvision", "PIL")
    data(part)
    part.attempt("cost", cost)
    watched = part.attempt("plain", watched_run, "plain")
    part.attempt("busy", compare_busy_with_cupti, watched)


def tools(part):
    """Runs with other tools that use the GPU's own times, or that record its work to replay it."""
    needs_torch(part, "torchvision", "PIL")
    data(part)
    part.attempt("reduce-overhead", watched_run, "reduce-overhead", "--steps", "80", "--compile", "--model", "resnet18")
    part.attempt("profiler before", watched_run, "profiler before", "--steps", "80", "--profiler", "before")
    part.attempt("profiler after", watched_run, "profiler after", "--steps", "80", "--profiler", "after")


def script(part, *words):
    workers = str(max(1, min(12, len(os.sched_getaffinity(0)) - 2)))
    return [part.visit.python, SCRIPT, data(part), "--workers", workers, *words]


def said(text):
    """Returns the figures that the script measured itself."""
    lines = [line for line in text.splitlines() if line.startswith('{"steps"')]
    if not lines:
        raise Failure("the script printed no figures.")
    figures = json.loads(lines[-1])
    if not math.isfinite(figures["loss"]):
        raise Failure(f"the loss of the script is {figures['loss']}.")
    return figures


def without_us(part, name):
    figures = said(part.run(script(part, *READY), EACH_S).out)
    part.check(name, True, f"{figures['step_ms']:.2f} ms a step.", **figures)
    return figures


def watched_run(part, name, *words):
    """The script's own figures, and our result."""
    ended = part.run(part.program("run", "--duration", "600s", "--json", "-", "--", *script(part, *words)), EACH_S)
    figures, result = said(ended.err), part.parsed(ended)
    account = result["account"]
    open_s = result["window"]["wall_s"] - account["compute_s"] - sum(account["stall_s"].values())
    is_on_gpu = result["config"]["device"] == "cuda"
    problems = [] if abs(open_s) < 1e-6 else [f"the account is {open_s:.9f} s short of its window"]
    if "--profiler" in words and figures["profiler_events"] == 0:
        problems.append("the script's profiler recorded nothing")
    if not is_on_gpu and "--profiler" not in words:
        problems.append("the GPU's own times are not in every step")
    part.check(name, not problems, f"{figures['step_ms']:.2f} ms a step, busy {100 * result['device']['busy']:.1f} %"
               f"{': ' + '; '.join(problems) if problems else ''}.", **figures, busy=result["device"]["busy"],
               is_on_gpu=is_on_gpu, notes=result["notes"])
    return figures, result


def cost(part):
    """Measures the overhead with ready batches. Workers, and other work of the host, would make two runs differ by
    more.
    """
    alone = [part.attempt("without us", without_us, "without us")]
    watched = part.attempt("with us", watched_run, "with us", *READY)
    alone.append(part.attempt("without us again", without_us, "without us again"))
    if watched is None or None in alone:
        raise NotReached("a run that it compares failed.")
    base = sum(figures["step_ms"] for figures in alone) / len(alone)
    more = watched[0]["step_ms"] / base - 1
    spread = abs(alone[0]["step_ms"] - alone[1]["step_ms"]) / base
    if spread > COSTS_MOST:
        raise NotReached(f"two runs without us are {100 * spread:.2f} % apart, with us a step takes {100 * more:+.2f} %.")
    part.check("cost", more <= COSTS_MOST, f"a step takes {100 * more:+.2f} % with us (at most {100 * COSTS_MOST:.0f} "
               f"%; two runs without us are {100 * spread:.2f} % apart).", more=more, spread=spread)


def compare_busy_with_cupti(part, watched):
    if watched is None:
        raise NotReached("a run that it compares failed.")
    file = part.visit.scratch / "cupti.training.jsonl"
    ended = part.run(script(part), EACH_S, environment={"CUDA_INJECTION64_PATH": busy.library(part),
                                                        "LOADERSCOPE_CUPTI_FILE": str(file)})
    figures = said(ended.out)
    kernels, lost = busy.read_kernels(file)
    begin, end = figures["begin_ns"], figures["end_ns"]
    seen, ours = busy.union(kernels, begin, end) / (end - begin), watched[1]["device"]["busy"]
    seen_ms, ours_ms = seen * figures["step_ms"], ours * watched[0]["step_ms"]
    part.check("busy", abs(ours_ms / seen_ms - 1) <= COMPUTE_MOST and lost == 0,
               f"ours {ours_ms:.3f} ms a step, CUPTI without us {seen_ms:.3f} ms (at most {100 * COMPUTE_MOST:.0f} % "
               f"apart), {lost} records lost.", ours_ms=ours_ms, cupti_ms=seen_ms, ours=ours, cupti=seen, lost=lost)
