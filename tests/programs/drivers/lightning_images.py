"""lightning's Trainer with a folder of images, as its documentation begins: FOLDER cpu|gpu."""
import sys

import lightning
import torch
from torchvision import datasets, transforms


class Classifier(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.model = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 7, 4), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(4),
                                         torch.nn.Flatten(), torch.nn.Linear(128, 10))

    def training_step(self, batch, _):
        images, labels = batch
        return torch.nn.functional.cross_entropy(self.model(images), labels)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01)


crop = transforms.Compose([transforms.RandomResizedCrop(128), transforms.ToTensor()])
loader = torch.utils.data.DataLoader(datasets.ImageFolder(f"{sys.argv[1]}/train", crop), 32, shuffle=True)
lightning.Trainer(max_epochs=100, logger=False, enable_checkpointing=False, accelerator=sys.argv[2]).fit(
    Classifier(), loader)
