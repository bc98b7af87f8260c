"""Training loops without a DataLoader, each a function: own_batches.py NAME. A batch takes 5 ms to make and a step 10 ms:
the trainer is busy for two thirds. What each prints last is a line of JSON: its batches, and what they did to the model.
JOB_AT_ONCE: without the pauses, which change nothing of it."""

import json
import os
import sys
import time

import torch

MODEL = torch.nn.Linear(16, 1)
BATCH_S, STEP_S = (0, 0) if "JOB_AT_ONCE" in os.environ else (0.005, 0.01)


def get_batch(split="train", batch_size=8):
    time.sleep(BATCH_S)
    return torch.rand(batch_size, 16), torch.rand(batch_size, 1)


def prepared():
    """Makes a new optimizer, and resets the model."""
    torch.manual_seed(7)
    with torch.no_grad():
        for parameter in MODEL.parameters():
            parameter.copy_(torch.linspace(-1, 1, parameter.numel()).view_as(parameter))
    return torch.optim.SGD(MODEL.parameters(), lr=0.1)


def step(optimizer, batch):
    inputs, targets = batch
    optimizer.zero_grad()
    ((MODEL(inputs) - targets) ** 2).mean().backward()
    optimizer.step()
    time.sleep(STEP_S)


def say(batches):
    print(json.dumps({"batches": batches, "weight": MODEL.weight.sum().item()}), flush=True)


def plain_function(steps=100):
    optimizer = prepared()
    for _ in range(steps):
        step(optimizer, get_batch())
    say(steps)


def long_function():
    plain_function(900)


def with_validation():
    """Mimics nanoGPT: the same function, also without gradients."""
    optimizer = prepared()
    for number in range(100):
        if number % 25 == 0:
            with torch.no_grad():
                for _ in range(4):
                    get_batch("val", batch_size=4)
        step(optimizer, get_batch())
    say(100)


def within_a_function():
    optimizer = prepared()

    def next_batch():
        return get_batch()

    for _ in range(100):
        step(optimizer, next_batch())
    say(100)


class Batches:
    def __init__(self):
        self.asked = 0

    def next(self):
        self.asked += 1
        return get_batch()


def bound_method():
    optimizer, batches = prepared(), Batches()
    for _ in range(100):
        step(optimizer, batches.next())
    say(batches.asked)


def generated(count):
    for _ in range(count):
        yield get_batch()


def batch_generator():
    optimizer, batches = prepared(), 0
    for _ in range(4):
        for batch in generated(25):
            step(optimizer, batch)
            batches += 1
    say(batches)


def long_generator():
    optimizer = prepared()
    for batch in generated(900):
        step(optimizer, batch)
    say(900)


def failing_function():
    optimizer = prepared()
    for number in range(60):
        step(optimizer, get_batch())
    say(60)
    sys.exit(3)


def around_a_loader():
    """The function takes from a DataLoader, which is what is measured."""
    from torch.utils.data import DataLoader, TensorDataset

    optimizer = prepared()
    batches = iter(DataLoader(TensorDataset(torch.rand(800, 16), torch.rand(800, 1)), batch_size=8))

    def take():
        return next(batches)

    for _ in range(100):
        step(optimizer, take())
    say(100)


if __name__ == "__main__":
    globals()[sys.argv[1]]()
