"""An iterable data set of .tar shards, distributed to the workers. One worker, a GPU step of 30 ms."""
import io
import tarfile
import time

import training
from PIL import Image
from torch.utils.data import DataLoader, IterableDataset, get_worker_info
from torchvision import transforms


def make(folder):
    for shard in range(8):
        with tarfile.open(folder / f"{shard}.tar", "w") as tar:
            for number in range(32):
                file = io.BytesIO()
                training.photo(shard * 32 + number, 360, 270).save(file, "JPEG", quality=85)
                entry = tarfile.TarInfo(f"{number % 10}_{number:03}.jpg")
                entry.size = file.tell()
                file.seek(0)
                tar.addfile(entry, file)


class Shards(IterableDataset):
    def __init__(self, folder):
        self.shards = sorted(folder.glob("*.tar"))
        self.transform = transforms.Compose([transforms.RandomResizedCrop(128), transforms.ToTensor()])

    def __iter__(self):
        worker = get_worker_info()
        for shard in self.shards[worker.id::worker.num_workers] if worker else self.shards:
            with tarfile.open(shard) as tar:
                for entry in tar:
                    image = Image.open(tar.extractfile(entry)).convert("RGB")
                    yield self.transform(image), int(entry.name[0])


flags = training.parse(num_workers=1, batch_size=16)
data = Shards(training.folder(flags, make))
loader = DataLoader(data, drop_last=True, **training.settings(flags))
clock = training.Clock(flags)
for epoch in range(flags.epochs):
    batches = 0
    for images, labels in loader:
        time.sleep(0.030)  # the GPU trains
        batches += 1
    clock.end_epoch(batches * flags.batch_size)
