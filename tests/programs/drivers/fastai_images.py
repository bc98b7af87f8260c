"""fastai's ImageDataLoaders and Learner, as its quick start begins."""
import sys

import torch
from fastai.vision.all import ImageDataLoaders, Learner, RandomResizedCrop

loaders = ImageDataLoaders.from_folder(sys.argv[1], train="train", valid="val", item_tfms=RandomResizedCrop(96), bs=32,
                                       num_workers=1, device="cpu")
model = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 7, 4), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(4),
                            torch.nn.Flatten(), torch.nn.Linear(128, 10))
Learner(loaders, model, loss_func=torch.nn.CrossEntropyLoss()).fit(100)
