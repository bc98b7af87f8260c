"""Graphs as Python objects, which collate_fn joins node by node. One worker; message passing on the CPU."""
import json
import random

import torch
import training
from torch import nn
from torch.utils.data import DataLoader


def make(folder):
    graphs = []
    for number in range(1500):
        nodes = random.randint(20, 60)
        edges = [(random.randrange(nodes), random.randrange(nodes)) for _ in range(3 * nodes)]
        graphs.append({"nodes": [[round(random.random(), 3) for _ in range(8)] for _ in range(nodes)], "edges": edges,
                       "label": number % 2})
    (folder / "graphs.json").write_text(json.dumps(graphs), encoding="utf-8")


class Graph:
    def __init__(self, row):
        self.nodes, self.edges, self.label = row["nodes"], row["edges"], row["label"]


def collate(graphs):
    nodes, edges, owners = [], [], []
    for number, graph in enumerate(graphs):
        for source, target in graph.edges:
            edges.append((source + len(nodes), target + len(nodes)))
        for node in graph.nodes:
            nodes.append(node)
            owners.append(number)
    return (torch.tensor(nodes), torch.tensor(edges).t(), torch.tensor(owners),
            torch.tensor([float(graph.label) for graph in graphs]))


torch.set_num_threads(1)
flags = training.parse(num_workers=1, batch_size=64)
graphs = [Graph(row) for row in json.loads((training.folder(flags, make) / "graphs.json").read_text(encoding="utf-8"))]
loader = DataLoader(graphs, shuffle=True, drop_last=True, collate_fn=collate, **training.settings(flags))
embed, update, head = nn.Linear(8, 16), nn.Linear(16, 16), nn.Linear(16, 1)
optimizer = torch.optim.Adam([*embed.parameters(), *update.parameters(), *head.parameters()])
clock = training.Clock(flags)
for epoch in range(flags.epochs):
    for nodes, edges, owners, labels in loader:
        hidden = torch.relu(embed(nodes))
        hidden = torch.relu(update(hidden.index_add(0, edges[1], hidden[edges[0]])))
        pooled = torch.zeros(len(labels), 16).index_add(0, owners, hidden)
        optimizer.zero_grad()
        nn.functional.binary_cross_entropy_with_logits(head(pooled)[:, 0], labels).backward()
        optimizer.step()
    clock.end_epoch(len(loader) * flags.batch_size)
