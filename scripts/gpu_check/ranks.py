"""Ranks that wait for each other in kernels on one GPU: what goes wrong here takes the GPU with it."""
import json

from gpu_check.images import data, wrong_with
from gpu_check.programs import Failure

EACH_S = 15
STOPPED_AFTER_S = 3
ENDS_WITHIN_S = 5
STEPS = ["--compute", "3ms", "--workers", "1", "--batch", "4"]
SYNTHETIC = ["--source", "synthetic", "--delivered-bytes", "1MB", "--cost", "decode=200us:sleep"]
CASES = {
    "2 ranks": ["--ranks", "2", *SYNTHETIC],
    "3 ranks": ["--ranks", "3", *SYNTHETIC],
    "200 launches": ["--ranks", "2", "--launches", "200", "--in-flight", "4", *SYNTHETIC],
    "one connection": ["--ranks", "3", *SYNTHETIC],
    "pageable": ["--ranks", "3", "--memory", "pageable"],
    "10 ranks": ["--ranks", "10", *SYNTHETIC],
}
ENVIRONMENTS = {"one connection": {"CUDA_DEVICE_MAX_CONNECTIONS": "1"}}  # setting of Megatron's users


def ranks(part):
    part.attempt("600 launches, in flight 4", refused)
    for name, words in CASES.items():
        part.attempt(name, waits, name, words)
        part.attempt(f"{name}, Ctrl-C", stops, f"{name}, Ctrl-C", name, words)


def command(part, name, words, *more):
    source = [] if "--source" in words else ["--data", data(part)]
    return part.program("run", *STEPS, *words, *source, "--sync-ranks", "--device", "cuda", *more, "--json", "-")


def waits(part, name, words):
    result = part.run_json(command(part, name, words, "--steps", "150"), EACH_S, environment=ENVIRONMENTS.get(name))
    problems = wrong_with(result)
    wanted = int(words[words.index("--ranks") + 1])
    if len(result["ranks"]) != wanted:
        problems.append(f"{len(result['ranks'])} of {wanted} ranks")
    part.check(name, not problems, f"busy {100 * result['device']['busy']:.1f} %"
               f"{': ' + '; '.join(problems) if problems else ''}.", busy=result["device"]["busy"],
               waiting_for_ranks_s=result["account"]["waiting_for_ranks_s"], notes=result["notes"])


def stops(part, name, case, words):
    ended = part.run(command(part, case, words, "--duration", "60s"), STOPPED_AFTER_S + ENDS_WITHIN_S, expected=(130,),
                     environment=ENVIRONMENTS.get(case), interrupt_after_s=STOPPED_AFTER_S)
    late_s = max(ended.took_s - STOPPED_AFTER_S, 0)
    measured = json.loads(ended.out)["interrupted"]
    part.check(name, measured and late_s < ENDS_WITHIN_S, f"ended {late_s:.2f} s after Ctrl-C with its result.",
               late_s=late_s)


def refused(part):
    words = ["--ranks", "2", "--launches", "600", "--in-flight", "4", *SYNTHETIC]
    ended = part.run(command(part, "", words, "--steps", "20"), EACH_S, expected=(0, 1, 64))
    if "more than a GPU queues" not in ended.err:
        raise Failure(f"it was not refused (exit code {ended.code}): {ended.err.strip()[-200:]}")
    part.check("600 launches, in flight 4", True, "refused: " + ended.err.strip().splitlines()[-1])
