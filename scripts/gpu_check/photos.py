"""Photos of several sizes, and manifests that repeat them."""
from gpu_check import images
from gpu_check.programs import Failure, NotReached

ROWS = 40_000  # rows of a manifest; an epoch then lasts a second or more, because each begins with empty queues
DATA = "500x375"  # size of the images of the line 'data', which are photos, too
PHOTOS = {"256x256": 2000, DATA: 1000, "1280x720": 300, "1920x1080": 150}
OTHER_PHOTOS = 1000  # number for any other size
MAKE_S = 20


def make(part, size, *more):
    """Returns a folder of photos of one size. Makes it first if no line made it before."""
    folders = part.visit.facts.setdefault("photos", {DATA: images.data(part)})
    key = " ".join((size, *more))
    if key not in folders:
        folders[key] = None  # value for photos that could not be made
        folder = part.visit.scratch / f"photos-{key.replace(' ', '-')}"
        part.run(part.program("data", "make", folder, "--count", PHOTOS.get(size, OTHER_PHOTOS), "--size", size, *more,
                              "--no-progress"), MAKE_S)
        folders[key] = folder
    if folders[key] is None:
        raise NotReached(f"the photos of {key} could not be made.")
    return folders[key]


def manifest(part, size, *more):
    """Returns a manifest that repeats the photos of one size. Reads them first, so that they are in the page cache.
    `run --cache warm` would look at each row again, for 2 s of each run.
    """
    folder = make(part, size, *more)
    path = part.visit.scratch / f"{folder.name}.csv"
    if not path.exists():
        files = sorted(folder.rglob("*.jpg"))
        if not files:
            raise Failure(f"there are no photos in {folder}.")
        for file in files:
            file.read_bytes()
        rows = [f"{file},0\n" for file in files]
        path.write_text("path,label\n" + "".join(rows * -(-ROWS // len(rows))))
    return path
