"""A training script as people write it: train_resnet50.py FOLDER [--ready] [--profiler before|after] [--compile]. The
last line that it prints is what it measured itself, as JSON."""
import argparse
import json
import statistics
import time

import torch
import torchvision
from torchvision import transforms

WARM_UP = 30  # steps
PROFILED = 5


class ReadyBatches(torch.utils.data.Dataset):
    """The same batch again and again: its loader takes no time, and the host's other work does not matter."""

    def __init__(self, options):
        self.steps, labels = options.steps, torch.arange(options.batch) % 10
        images = torch.rand(options.batch, 3, 224, 224).to(memory_format=torch.channels_last)
        self.batch = tuple(part.pin_memory() if options.device == "cuda" else part for part in (images, labels))

    def __len__(self):
        return self.steps

    def __getitem__(self, _):
        return self.batch


def make_loader(folder, options):
    """Returns a loader with one epoch, because the number of epochs must not affect the comparison."""
    if options.ready:
        return torch.utils.data.DataLoader(ReadyBatches(options), batch_size=None)
    images = torchvision.datasets.ImageFolder(folder, transforms.Compose([
        transforms.RandomResizedCrop(224), transforms.RandomHorizontalFlip(), transforms.ToTensor(),
        transforms.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])]))
    drawn = torch.utils.data.RandomSampler(images, replacement=True, num_samples=options.batch * options.steps)
    return torch.utils.data.DataLoader(images, batch_size=options.batch, sampler=drawn, drop_last=True,
                                       num_workers=options.workers, pin_memory=options.device == "cuda",
                                       persistent_workers=True)


class Training:
    def __init__(self, options):
        self.options = options
        self.model = getattr(torchvision.models, options.model)(num_classes=1000).to(options.device)
        self.model = self.model.to(memory_format=torch.channels_last)
        self.optimiser = torch.optim.SGD(self.model.parameters(), lr=0.01, momentum=0.9)
        self.forward = torch.compile(self.model, mode="reduce-overhead") if options.compile else self.model

    def step(self, images, labels):
        images = images.to(self.options.device, non_blocking=True, memory_format=torch.channels_last)
        labels = labels.to(self.options.device, non_blocking=True)
        with torch.autocast(self.options.device, torch.bfloat16):
            loss = torch.nn.functional.cross_entropy(self.forward(images), labels)
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        self.optimiser.step()
        return loss


def profiler():
    kinds = torch.profiler.ProfilerActivity
    return torch.profiler.profile(activities=[kinds.CPU, kinds.CUDA])


def profile_before(training, options):
    """Some steps with a profiler, before any loader is used. How many events it recorded."""
    images, labels = torch.rand(options.batch, 3, 224, 224), torch.zeros(options.batch, dtype=torch.long)
    with profiler() as recorded:
        for _ in range(PROFILED):
            training.step(images, labels)
    return len(recorded.events())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--steps", type=int, default=150)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--model", default="resnet50")
    parser.add_argument("--profiler", choices=("before", "after"))
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--ready", action="store_true")
    options = parser.parse_args()
    torch.manual_seed(0)
    training = Training(options)
    events = profile_before(training, options) if options.profiler == "before" else 0
    ends, recorded = [], None
    for number, (images, labels) in enumerate(make_loader(options.folder, options)):
        if options.profiler == "after" and number == options.steps // 2:
            recorded = profiler()
            recorded.start()
        loss = training.step(images, labels)
        if options.device == "cuda" and number % 2:  # waits as a loop does that reads its loss now and then
            torch.cuda.synchronize()
        ends.append(time.monotonic_ns())
        if recorded is not None and number == options.steps // 2 + PROFILED:
            recorded.stop()
            events = len(recorded.events())
    times = [end - begin for begin, end in zip(ends[WARM_UP:], ends[WARM_UP + 1:])]
    print(json.dumps({"steps": len(ends), "step_ms": statistics.fmean(times) / 1e6, "begin_ns": ends[WARM_UP],
                      "end_ns": ends[-1], "loss": loss.item(), "profiler_events": events}), flush=True)


if __name__ == "__main__":
    main()
