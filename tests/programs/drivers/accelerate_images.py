"""accelerate's prepared loader, model and optimizer, as its documentation begins: FOLDER cpu|gpu."""
import sys

import torch
from accelerate import Accelerator
from torchvision import datasets, transforms

crop = transforms.Compose([transforms.RandomResizedCrop(128), transforms.RandAugment(), transforms.ToTensor()])
model = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 7, 4), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(4),
                            torch.nn.Flatten(), torch.nn.Linear(128, 10))
accelerator = Accelerator(cpu=sys.argv[2] == "cpu")
loader = torch.utils.data.DataLoader(datasets.ImageFolder(f"{sys.argv[1]}/train", crop), 32, shuffle=True, num_workers=1)
model, optimizer, loader = accelerator.prepare(model, torch.optim.SGD(model.parameters(), lr=0.01), loader)
for epoch in range(100):
    for images, labels in loader:
        optimizer.zero_grad()
        accelerator.backward(torch.nn.functional.cross_entropy(model(images), labels))
        optimizer.step()
