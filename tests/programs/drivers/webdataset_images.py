"""webdataset's pipeline of .tar files in a DataLoader, as its documentation begins."""
import glob
import sys

import torch
import webdataset
from torchvision import transforms

crop = transforms.Compose([transforms.RandomResizedCrop(128), transforms.ToTensor()])
shards = sorted(glob.glob(f"{sys.argv[1]}/*.tar"))
data = webdataset.WebDataset(shards, shardshuffle=100).shuffle(100).decode("pil").to_tuple("jpg", "cls")
loader = torch.utils.data.DataLoader(data.map_tuple(crop, int).batched(32), batch_size=None, num_workers=1)
model = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 7, 4), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(4),
                            torch.nn.Flatten(), torch.nn.Linear(128, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for epoch in range(100):
    for images, labels in loader:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(images), torch.as_tensor(labels)).backward()
        optimizer.step()
