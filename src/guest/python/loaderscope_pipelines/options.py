"""Arguments of all pipelines."""

import dataclasses
import hashlib
import os
from typing import Any, Dict, List, Tuple

# Mean and deviation of RGB values from 0 to 1: ImageNet's, as is usual.
MEAN = (0.485, 0.456, 0.406)
STD = (0.229, 0.224, 0.225)

# Ranges of random-resized-crop: share of the area, width / height.
SCALE = (0.08, 1.0)
RATIO = (3 / 4, 4 / 3)


@dataclasses.dataclass(frozen=True)
class Options:
    folder: str  # with the images, at any depth
    made: str  # folder for the pipelines' own formats
    workers: int = 2  # processes or threads, whatever the loader has
    batch_size: int = 64
    size: int = 224  # pixels, both ways
    seed: int = 0
    prefetch: int = 2  # batches ahead; of each worker, where these are processes

    def files(self) -> List[str]:
        """All JPEG files, in an order that is always the same."""
        found = [os.path.join(folder, name) for folder, _, names in os.walk(self.folder) for name in names
                 if name.lower().endswith((".jpg", ".jpeg"))]
        if not found:
            raise FileNotFoundError(f"{self.folder}: no JPEG files (make some with 'loaderscope data make')")
        return sorted(found)

    def worker_arguments(self) -> Dict[str, Any]:
        """Returns the arguments of DataLoader."""
        if self.workers == 0:
            return {"num_workers": 0}
        return {"num_workers": self.workers, "prefetch_factor": self.prefetch, "persistent_workers": True}

    def made_path(self, name: str) -> Tuple[str, bool]:
        """A place for what is made of these very files, and whether it is there already."""
        facts = "".join(f"{path} {os.stat(path).st_size} {os.stat(path).st_mtime_ns}\n" for path in self.files())
        path = os.path.join(self.made, f"{name}-{hashlib.sha256(facts.encode()).hexdigest()[:12]}")
        return path, os.path.exists(path)
