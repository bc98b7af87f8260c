"""Real images through every memory mode, executor, copy mode and type."""
import itertools

from gpu_check import link
from gpu_check.programs import Failure
from gpu_check.runner import NOT_REACHED

COPY_LEAST = 0.9  # share of the rate that the probe measured with workers
EACH_S = 12
TYPES = ("f32", "u8")
REFUSED = ("write-combined", "processes")  # the driver makes such memory for one process


def make_data(part):
    data = part.visit.scratch / "images"
    part.run(part.program("data", "make", data, "--count", "1000", "--size", "500x375"))
    part.check("made", data.is_dir(), "1000 images.")
    part.visit.facts["data"] = data


def data(part):
    return part.fact("data", "there are no images to load.")


def images(part):
    data(part)
    family = part.run_json(part.program("list", "memory", "--json"), 10)[0]
    # Large steps of the grid last: where the time is over, every mode has had its turn.
    for copy, transfer, executor, row in itertools.product(
            ("async", "stream"), TYPES, ("threads", "processes"), family["rows"]):
        name = f"{row['name']}, {executor}, {copy}, {transfer}"
        part.attempt(name, run_images, name, row, executor, copy, transfer)


def run_images(part, name, row, executor, copy, transfer):
    if not row["available"]:
        raise Failure(f"not available here: {row.get('reason')}")
    words = part.program("run", "--data", data(part), "--device", "cuda", "--compute", "5ms", "--memory", row["name"],
                         "--executor", executor, "--copy", copy, "--transfer", transfer, "--steps", "60",
                         "--json", "-")
    if (row["name"], executor) == REFUSED:
        ended = part.run(words, EACH_S, expected=(64,))
        part.check(name, True, f"refused: {ended.err.strip().splitlines()[-1]}")
        return
    result = part.run_json(words, EACH_S)
    copied = result["stages"].get("h2d", {})
    rate = copied["bytes"] / copied["wall_s"] if copied.get("wall_s") else 0
    batch = copied["bytes"] / copied["count"] if copied.get("count") else 0
    known = part.visit.facts
    probed = link.rate_near(known.get("loaded link", known.get("link", [])), row["name"], copy, batch)
    problems = wrong_with(result)
    if probed and rate < COPY_LEAST * probed:
        problems.append(f"copies have {rate / probed:.2f} of the probe's rate, {COPY_LEAST} is the least")
    summary = f"{result['throughput']['samples_per_s']['mean']:.0f} samples/s, copies {rate / 1e9:.1f} GB/s"
    figures = {"samples_per_s": result["throughput"]["samples_per_s"]["mean"], "busy": result["device"]["busy"],
               "copy_bytes_per_s": rate, "probed_bytes_per_s": probed, "batch_bytes": batch,
               "stall_s": result["account"]["stall_s"], "notes": result["notes"]}
    if not problems and probed is None:
        part.say(NOT_REACHED, name, f"{summary}; the probe has no rate to compare them with.", **figures)
    else:
        part.check(name, not problems, f"{summary}{': ' + '; '.join(problems) if problems else ''}.", **figures)


def wrong_with(result):
    """Returns sentences on facts that are wrong for any run on a GPU."""
    account = result["account"]
    open_s = result["window"]["wall_s"] - account["compute_s"] - sum(account["stall_s"].values())
    fallbacks = [note for note in result["notes"] if "cannot be page-locked" in note]
    found = {f"the account is {open_s:.9f} s short of its window": abs(open_s) >= 1e-6,
             "it was simulated": result["simulated"], f"{result['lost_spans']} spans are lost": result["lost_spans"],
             "samples were skipped": result["errors"]["skipped_samples"],
             "nothing was delivered": result["throughput"]["samples_per_s"]["mean"] <= 0}
    return [problem for problem, is_there in found.items() if is_there] + fallbacks

