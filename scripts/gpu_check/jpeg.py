"""Features of nvJPEG on this machine, by loaderscope_nvjpeg_check."""
import glob
import pathlib

from gpu_check.images import data
from gpu_check.programs import Failure, NotReached
from gpu_check.runner import NOT_REACHED

IMAGES_MOST = 256
PLACES = ("{folder}/libnvjpeg.so*", "/usr/local/cuda*/lib64/libnvjpeg.so*", "/usr/lib/x86_64-linux-gnu/libnvjpeg.so*",
          "{packages}/nvidia/cu13/lib/libnvjpeg.so*", "{packages}/nvidia/nvjpeg/lib/libnvjpeg.so*",
          "{packages}/torchvision.libs/libnvjpeg*.so*")


def libraries(part):
    try:
        packages = part.run([part.visit.python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], 10).out
    except Failure:
        packages = "no-python"
    names = {"folder": part.visit.folder, "packages": packages.strip()}
    return [path for place in PLACES for path in sorted(glob.glob(place.format(**names)))]


def decoders(part):
    program = part.visit.folder / "loaderscope_nvjpeg_check"
    if not program.exists():
        raise NotReached(f"there is no {program.name}: it is built where there is a CUDA toolkit.")
    found = libraries(part)
    if not found:
        raise NotReached("no libnvjpeg: neither beside gpu-check nor in the CUDA toolkit nor in Python's packages.")
    images = sorted(pathlib.Path(data(part)).rglob("*.jpg"))[:IMAGES_MOST]
    answer = part.run_json([program, found[0], *images], 25)
    for backend in answer["backends"]:
        rate = backend["images_per_s"]
        if not backend["created"]:
            part.say(NOT_REACHED, backend["name"], f"{backend['error']}.", **backend)
            continue
        part.check(backend["name"], rate > 0,
                   f"{rate:.0f} images/s, {backend['hardware_engines']} hardware engines, ROI "
                   f"{'yes' if backend['roi'] else 'no'}, scale {'yes' if backend['scale'] else 'no'}"
                   f"{': ' + backend['error'] if backend['error'] else ''}.", **backend)
    part.check("library", True, f"nvJPEG {answer['version']} ({found[0]}).", path=found[0])
