"""torch_geometric's loader of small graphs with its GCN layers, from its introduction."""
import torch
from torch_geometric.datasets import FakeDataset
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GCN, global_mean_pool
from torch_geometric.transforms import AddRandomWalkPE

graphs = FakeDataset(num_graphs=2000, avg_num_nodes=60, transform=AddRandomWalkPE(8, attr_name=None))
loader = DataLoader(graphs, batch_size=32, shuffle=True)
model = GCN(graphs[0].num_node_features, 16, num_layers=2, out_channels=graphs.num_classes)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(100):
    for batch in loader:
        optimizer.zero_grad()
        out = global_mean_pool(model(batch.x, batch.edge_index), batch.batch)
        torch.nn.functional.cross_entropy(out, batch.y).backward()
        optimizer.step()
