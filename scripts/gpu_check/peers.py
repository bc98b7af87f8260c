"""Decoders of other projects on the same files, in the same batches."""
import pathlib

from gpu_check import device_work, photos
from gpu_check.machine import needs_torch
from gpu_check.programs import Failure, NotReached

SCRIPT = pathlib.Path(__file__).resolve().parent / "decode_jpegs.py"
SIZE = "500x375"
EACH_S = 25  # importing PyTorch takes most of that
HAS_CUDA = "import json, torch; print(json.dumps({'cuda': torch.cuda.is_available()}))"
RATE_LEAST = 1.0  # ours as a multiple of theirs


def peers(part):
    needs_torch(part, "torchvision")
    found = part.run_json([part.visit.python, "-c", HAS_CUDA], EACH_S)
    if not found["cuda"]:
        raise NotReached(f"PyTorch {part.visit.facts['torch']['torch']} finds no GPU.")
    path = photos.manifest(part, SIZE)
    alone = part.attempt("torchvision", torchvision_run, "torchvision", path)
    part.attempt("torchvision, reading", torchvision_run, "torchvision, reading", path, "--read")
    part.attempt("ours", compare, alone)


def torchvision_run(part, name, path, *words):
    found = peer_figures(part.run_json([part.visit.python, SCRIPT, path, *words], EACH_S))
    part.check(name, found["images_per_s"] > 0,
               f"{found['images_per_s']:.0f} images/s, {1e6 * found['cpu_s_per_image']:.1f} us of host CPU per image, "
               f"{found['cores_used']:.2f} cores.", **found)
    return found


def peer_figures(answer):
    if "cuda" not in answer["device"]:
        raise Failure(f"torchvision decoded on {answer['device']}.")
    return {**answer, "images_per_s": answer["images"] / answer["wall_s"],
            "cpu_s_per_image": answer["cpu_s"] / max(1, answer["images"]),
            "cores_used": answer["cpu_s"] / answer["wall_s"]}


def compare(part, theirs):
    """Compares decoding alone: our gpu-decode by its own time, which includes the copy of the stored bytes, too."""
    if theirs is None:
        raise NotReached("torchvision gave no rate.")
    rates = part.visit.facts.get("engine rates", {})
    if ("hw", SIZE) not in rates:
        raise NotReached("the line 'engines' gave no rate of --decode hw.")
    ours = rates["hw", SIZE]
    rate = device_work.own_rate(ours)
    ratio, of_run = (images / theirs["images_per_s"] for images in (rate, ours["images_per_s"]))
    cpu = theirs["cpu_s_per_image"] / max(ours["process_cpu_s_per_image"], 1e-9)
    part.check("ours", ratio >= RATE_LEAST,
               f"gpu-decode has {ratio:.2f} of torchvision's rate (at least {RATE_LEAST}), the run with reading and "
               f"augmentation {of_run:.2f}; torchvision takes {cpu:.2f} times our host CPU per image.",
               ratio=ratio, ratio_of_run=of_run, cpu_ratio=cpu)
