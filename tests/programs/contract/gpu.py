"""Programs on a GPU."""

import torch
from torch.utils.data import DataLoader, TensorDataset

NEEDS = "torch gpu"


def _batches(**named):
    return DataLoader(TensorDataset(torch.arange(32.0).reshape(8, 4)), 4, **named)


def graphs_of_copies_and_steps():
    still = torch.zeros(4, 4, device="cuda")
    pinned = torch.ones(4, 4).pin_memory()
    weights = torch.full((4, 4), 0.5).cuda()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            still @ weights
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        copied = pinned.to("cuda", non_blocking=True)
        result = (still + copied) @ weights
    sums = []
    for (batch,) in _batches(pin_memory=True):
        still.copy_(batch, non_blocking=True)
        graph.replay()
        sums.append(result.sum().item())
    return sums


def copies_of_every_kind():
    tensor = torch.arange(4.0)
    there = tensor.cuda(), tensor.to("cuda:0"), tensor.to(device="cuda"), tensor.to(torch.zeros(1, device="cuda"))
    return [copy.sum().item() for copy in there], [str(copy.device) for copy in there], there[0].copy_(tensor * 2).tolist()


def losses():
    torch.manual_seed(1)
    model = torch.nn.Linear(4, 1).cuda()
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    found = []
    for (batch,) in _batches(num_workers=1, pin_memory=True):
        loss = model(batch.cuda(non_blocking=True)).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        found.append(loss.item())
    return found
