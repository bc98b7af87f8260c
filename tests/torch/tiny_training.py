"""A tiny model, and samples that take time, for the tests of callbacks."""

import pathlib
import sys
import time

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "src" / "python"))
BATCH = 8


class SlowSamples(torch.utils.data.Dataset):
    def __init__(self, steps, seconds):
        self._steps, self._seconds = steps, seconds

    def __len__(self):
        return BATCH * self._steps

    def __getitem__(self, i):
        time.sleep(self._seconds)
        return {"x": torch.ones(4), "labels": torch.tensor(i % 2)}


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 2)

    def forward(self, x, labels):
        logits = self.layer(x)
        return {"loss": torch.nn.functional.cross_entropy(logits, labels), "logits": logits}


def lightning_module():
    import lightning

    class Module(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.model = Model()

        def training_step(self, batch, _):
            return self.model(**batch)["loss"]

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), 0.1)

    return Module()
