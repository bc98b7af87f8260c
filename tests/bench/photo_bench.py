#!/usr/bin/env python3
"""Do the images of `loaderscope data make` cost what photographs cost?

Resizes the photographs of the PyPI packages scikit-image, scikit-learn and matplotlib to one size. The program
photo_decode encodes and decodes them, and alternates them with made images. Prints ratios of made images over
photographs for every subsampling and quality: the stored bytes, and the decode time per stored byte (median over
rounds with its 95 % interval). Exit 1 when a ratio of times is beyond 15 %.

    python3 tests/bench/photo_bench.py build/release/photo_decode
"""
import argparse
import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile
import venv

PACKAGES = ["pillow", "numpy", "scikit-image", "scikit-learn", "matplotlib"]
PHOTOGRAPHS = {
    "skimage": ["data/astronaut.png", "data/chelsea.png", "data/coffee.png", "data/rocket.jpg",
                "data/motorcycle_left.png"],
    "sklearn": ["datasets/images/china.jpg", "datasets/images/flower.jpg"],
    "matplotlib": ["mpl-data/sample_data/grace_hopper.jpg"],
}


def package_folder(name):
    spec = importlib.util.find_spec(name)  # does not import it: its own dependencies may be missing
    return pathlib.Path(spec.origin).parent if spec and spec.origin else None


def packages_are_here():
    return importlib.util.find_spec("PIL") and all(package_folder(name) for name in PHOTOGRAPHS)


def run_in_own_environment(folder):
    """Runs this script again where the packages are; installs them first."""
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "--no-deps", *PACKAGES], check=True)
    arguments = [argument for argument in sys.argv[1:]] + ["--no-venv"]
    return subprocess.run([python, __file__, *arguments], check=False).returncode


def prepare(path, width, height, target):
    """The middle of the photograph, scaled to cover the size."""
    from PIL import Image
    image = Image.open(path).convert("RGB")
    scale = max(width / image.width, height / image.height)
    image = image.resize((max(width, round(image.width * scale)), max(height, round(image.height * scale))),
                         Image.LANCZOS)
    left, top = (image.width - width) // 2, (image.height - height) // 2
    image.crop((left, top, left + width, top + height)).save(target)


def show(row):
    photo, made = row["photo_bytes"], row["made_bytes"]
    print(f"{row['subsampling']:>5} {row['quality']:>3}   "
          f"{photo[0] / 1e3:6.1f} kB ({photo[1] / 1e3:.0f} to {photo[2] / 1e3:.0f})   "
          f"{made[0] / 1e3:6.1f} kB ({made[1] / 1e3:.0f} to {made[2] / 1e3:.0f})   {made[0] / photo[0]:.2f}   "
          f"{row['photo_ns_per_byte']:5.2f}  {row['made_ns_per_byte']:5.2f}   "
          f"{row['ratio']:.3f} [{row['low']:.3f}, {row['high']:.3f}]", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="photo_decode, as built")
    parser.add_argument("--size", default="500x375")
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--per-photo", type=int, default=8, help="made images per photograph")
    parser.add_argument("--venv", default="build/photo-venv", help="where packages are installed if need be")
    parser.add_argument("--no-venv", action="store_true", help="use the packages of this Python")
    options = parser.parse_args()
    if not packages_are_here():
        if options.no_venv:
            sys.exit(f"photo_bench: these packages are needed: {' '.join(PACKAGES)}")
        sys.exit(run_in_own_environment(pathlib.Path(options.venv).resolve()))

    width, height = map(int, options.size.split("x"))
    worst = 0.0
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for package, names in PHOTOGRAPHS.items():
            for name in names:
                files.append(f"{folder}/{pathlib.Path(name).stem}.ppm")
                prepare(package_folder(package) / name, width, height, files[-1])
        command = [options.program, str(options.rounds), str(options.per_photo), *files]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            for line in process.stdout:
                row = json.loads(line)
                if "made_per_second" in row:
                    print(f"{len(files)} photographs, {options.size}; {row['made_per_second']:.0f} images made per "
                          "second on one core\n                 photographs                   made"
                          "            bytes   ns/byte         ns per byte, made over photographs")
                    continue
                show(row)
                worst = max(worst, abs(row["ratio"] - 1))
        if process.returncode != 0:
            sys.exit(f"photo_bench: {options.program} failed")
    print(f"largest difference in decode time per stored byte: {100 * worst:.1f} %")
    sys.exit(0 if worst <= 0.15 else 1)


if __name__ == "__main__":
    main()
