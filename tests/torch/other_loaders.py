"""Training loops with the loaders of other packages, each a function: other_loaders.py NAME [WORKERS]. What each prints last
is a line of JSON: its batches, what they did to the model, and a hash of the states of a loader with state."""

import hashlib
import json
import sys
import time

import torch
from torch.utils.data import Dataset, IterableDataset, get_worker_info

SAMPLES = 320
MODEL = torch.nn.Linear(16, 1)


class Samples(Dataset):
    def __len__(self):
        return SAMPLES

    def __getitem__(self, index):
        time.sleep(0.001)
        return torch.full((16,), index / SAMPLES), torch.rand(1)


class Stream(IterableDataset):
    """Knows how far it is, and is its own iterator without workers that share it."""

    def __init__(self):
        self.at = 0

    def state_dict(self):
        return {"at": self.at, "buffer": bytes(1000)}

    def load_state_dict(self, state):
        self.at = state["at"]

    def __iter__(self):
        info = get_worker_info()
        workers, number = (info.num_workers, info.id) if info else (1, 0)
        while self.at < SAMPLES // workers:
            self.at += 1
            time.sleep(0.001)
            yield torch.full((16,), (self.at * workers + number) / SAMPLES), torch.rand(1)
        self.at = 0


class Training:
    def __init__(self):
        torch.manual_seed(3)
        with torch.no_grad():
            for parameter in MODEL.parameters():
                parameter.fill_(0.1)
        self.optimizer = torch.optim.SGD(MODEL.parameters(), lr=0.05)
        self.batches = 0
        self.states = hashlib.sha1()

    def step(self, inputs, targets):
        self.optimizer.zero_grad()
        ((MODEL(inputs) - targets) ** 2).mean().backward()
        self.optimizer.step()
        time.sleep(0.002)
        self.batches += 1

    def add_state(self, state):
        self.states.update(repr(state).encode())

    def say(self):
        print(json.dumps({"batches": self.batches, "weight": MODEL.weight.sum().item(), "states": self.states.hexdigest()}),
              flush=True)


def train_with_state(data, workers, **more):
    """Takes a state after every step, and continues with a new loader from one state."""
    from torchdata.stateful_dataloader import StatefulDataLoader

    def make():
        return StatefulDataLoader(data, batch_size=8, num_workers=workers, **more)

    training, loader, saved = Training(), make(), None
    for _ in range(2):
        for batch in loader:
            training.step(*batch)
            training.add_state(loader.state_dict())
            if training.batches == 12:
                saved = loader.state_dict()
    loader = make()
    loader.load_state_dict(saved)
    for batch in loader:
        training.step(*batch)
        training.add_state(loader.state_dict())
    training.say()


def stateful(workers):
    train_with_state(Samples(), workers, shuffle=True, persistent_workers=workers > 0)


def stateful_stream(workers):
    train_with_state(Stream(), workers)


def accelerated(workers):
    from accelerate import Accelerator
    from accelerate.utils import DataLoaderConfiguration
    from torch.utils.data import DataLoader

    training = Training()
    accelerator = Accelerator(cpu=True, dataloader_config=DataLoaderConfiguration(use_stateful_dataloader=True))
    loader = accelerator.prepare(DataLoader(Samples(), batch_size=8, num_workers=workers, shuffle=True))
    for _ in range(2):
        for batch in loader:
            training.step(*batch)
            training.add_state(loader.state_dict())
    training.say()


def nodes(workers):
    from torch.utils.data import default_collate
    from torchdata.nodes import Batcher, Loader, ParallelMapper, Prefetcher, SamplerWrapper

    def load(index):
        time.sleep(0.001)
        return torch.full((16,), index / SAMPLES), torch.full((1,), 0.5)

    training = Training()
    samples = ParallelMapper(SamplerWrapper(range(SAMPLES)), load, num_workers=1, method="thread")
    batches = ParallelMapper(Batcher(samples, 8), default_collate, num_workers=1, method="thread")
    loader = Loader(Prefetcher(batches, 2))
    for _ in range(2):
        for batch in loader:
            training.step(*batch)
            training.add_state(loader.state_dict())
    training.say()


def dali(workers):
    import numpy
    from nvidia.dali import fn, pipeline_def
    from nvidia.dali.plugin.pytorch import DALIGenericIterator

    def sample(info):
        if info.idx_in_epoch >= SAMPLES:
            raise StopIteration
        time.sleep(0.001)
        return (numpy.full((16,), info.idx_in_epoch / SAMPLES, numpy.float32),)

    @pipeline_def(batch_size=8, num_threads=1, device_id=None)
    def pipeline():
        return fn.external_source(source=sample, num_outputs=1, batch=False)[0]

    training = Training()
    loader = DALIGenericIterator(pipeline(), ["x"], auto_reset=True)
    for _ in range(2):
        for batch in loader:
            training.step(batch[0]["x"], 0.5)
    training.say()


if __name__ == "__main__":
    globals()[sys.argv[1]](int(sys.argv[2]) if len(sys.argv) > 2 else 2)
