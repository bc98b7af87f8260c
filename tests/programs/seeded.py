"""Small seeded trainings, each by a framework's own trainer or loader: seeded.py NAME. The last line says what came of it,
which has to be the same with and without loaderscope: losses, and the weights at the end."""

import hashlib
import json
import os
import random
import sys
import tempfile
import warnings

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset

SAMPLES, BATCH, WIDTH = 96, 8, 16
warnings.filterwarnings("ignore")


class Noisy(Dataset):
    """Samples that also use the worker's own random numbers."""

    def __len__(self):
        return SAMPLES

    def __getitem__(self, index):
        generator = torch.Generator().manual_seed(index)
        return torch.rand(WIDTH, generator=generator) + 0.1 * torch.rand(WIDTH), torch.tensor([float(index % 3)])


class Stream(IterableDataset):
    def __iter__(self):
        info = torch.utils.data.get_worker_info()
        for index in range(info.id if info else 0, SAMPLES, info.num_workers if info else 1):
            yield Noisy()[index]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(WIDTH, 8), nn.ReLU(), nn.Dropout(0.1), nn.Linear(8, 1))

    def forward(self, x):
        return self.layers(x)


LOSSES = []


def step(model, optimizer, batch):
    inputs, targets = batch
    loss = nn.functional.mse_loss(model(inputs), targets)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    LOSSES.append(loss.item())


def train(loader, epochs=2):
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(epochs):
        for batch in loader:
            step(model, optimizer, batch)
    return model


def inline():
    return train(DataLoader(Noisy(), BATCH, shuffle=True))


def forked():
    return train(DataLoader(Noisy(), BATCH, shuffle=True, num_workers=2))


def spawned():
    return train(DataLoader(Noisy(), BATCH, shuffle=True, num_workers=1, multiprocessing_context="spawn"))


def persistent():
    return train(DataLoader(Noisy(), BATCH, shuffle=True, num_workers=2, persistent_workers=True))


def stream():
    return train(DataLoader(Stream(), BATCH, num_workers=2))


def tensors():
    return train(DataLoader(TensorDataset(torch.rand(SAMPLES, WIDTH), torch.rand(SAMPLES, 1)), BATCH, shuffle=True))


def accelerate():
    from accelerate import Accelerator

    accelerator = Accelerator(cpu=True)
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loader = DataLoader(Noisy(), BATCH, shuffle=True, num_workers=2)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for _ in range(2):
        for inputs, targets in loader:
            loss = nn.functional.mse_loss(model(inputs), targets)
            optimizer.zero_grad()
            accelerator.backward(loss)
            optimizer.step()
            LOSSES.append(loss.item())
    return model


def lightning():
    import lightning as L

    class Module(L.LightningModule):
        def __init__(self):
            super().__init__()
            self.net = Net()

        def training_step(self, batch, _):
            loss = nn.functional.mse_loss(self.net(batch[0]), batch[1])
            LOSSES.append(loss.item())
            return loss

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.01)

    model = Module()
    trainer = L.Trainer(max_epochs=2, accelerator="cpu", logger=False, enable_checkpointing=False,
                        enable_progress_bar=False, enable_model_summary=False)
    trainer.fit(model, DataLoader(Noisy(), BATCH, shuffle=True, num_workers=2))
    return model


def transformers():
    from transformers import Trainer, TrainingArguments

    class Rows(Dataset):
        def __len__(self):
            return SAMPLES

        def __getitem__(self, index):
            inputs, labels = Noisy()[index]
            return {"inputs": inputs, "labels": labels}

    class Regression(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = Net()

        def forward(self, inputs, labels=None):
            loss = nn.functional.mse_loss(self.net(inputs), labels)
            LOSSES.append(loss.item())
            return {"loss": loss}

    model = Regression()
    arguments = TrainingArguments(tempfile.mkdtemp(), num_train_epochs=2, per_device_train_batch_size=BATCH, seed=1,
                                  report_to=[], save_strategy="no", use_cpu=True, dataloader_num_workers=2,
                                  disable_tqdm=True, logging_strategy="no")
    Trainer(model, arguments, train_dataset=Rows()).train()
    return model


def timm():
    from PIL import Image
    from timm.data import create_dataset, create_loader

    folder = tempfile.mkdtemp()
    for number in range(SAMPLES // 2):
        os.makedirs(f"{folder}/{number % 2}", exist_ok=True)
        Image.effect_noise((40, 40), 40 + number).convert("RGB").save(f"{folder}/{number % 2}/{number}.png")
    loader = create_loader(create_dataset("", root=folder), input_size=(3, 32, 32), batch_size=BATCH, is_training=True,
                           use_prefetcher=False, num_workers=2, device=torch.device("cpu"))
    model = nn.Sequential(nn.Flatten(), nn.Linear(3 * 32 * 32, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
    for _ in range(2):
        for images, labels in loader:
            step(model, optimizer, (images, labels[:, None].float()))
    return model


def litdata():
    import litdata

    folder = tempfile.mkdtemp()
    writer = litdata.streaming.writer.BinaryWriter(folder, chunk_bytes="4KB")
    for index in range(SAMPLES):
        writer[index] = list(Noisy()[index])
    writer.done()
    writer.merge()
    rows = litdata.StreamingDataset(folder, shuffle=True, seed=3)
    return train(litdata.StreamingDataLoader(rows, batch_size=BATCH, num_workers=2))


def streaming():
    from streaming import MDSWriter, StreamingDataLoader, StreamingDataset

    folder = tempfile.mkdtemp()
    with MDSWriter(out=folder, columns={"x": "bytes"}, size_limit=4096) as out:
        for index in range(SAMPLES):
            out.write({"x": bytes([index]) * WIDTH})

    class Rows(StreamingDataset):
        def __getitem__(self, index):
            row = torch.frombuffer(bytearray(super().__getitem__(index)["x"]), dtype=torch.uint8)
            return row.float() / 255, row[:1].float() / 255

    rows = Rows(local=folder, shuffle=True, batch_size=BATCH, shuffle_seed=3)
    return train(StreamingDataLoader(rows, batch_size=BATCH, num_workers=2))


def webdataset():
    import io

    import webdataset as wds

    folder = tempfile.mkdtemp()
    with wds.TarWriter(f"{folder}/0.tar") as out:
        for index in range(SAMPLES):
            buffer = io.BytesIO()
            torch.save(Noisy()[index], buffer)
            out.write({"__key__": f"{index:04}", "pth": buffer.getvalue()})
    rows = wds.WebDataset(f"{folder}/0.tar", shardshuffle=False).shuffle(16, rng=random.Random(5)).decode() \
        .map(lambda row: row["pth"])
    return train(DataLoader(rows, BATCH, num_workers=1))


def torchdata():
    from torchdata.stateful_dataloader import StatefulDataLoader

    return train(StatefulDataLoader(Noisy(), BATCH, shuffle=True, num_workers=2))


def datasets():
    import datasets as hf

    rows = hf.Dataset.from_dict({"x": [[float(index)] * WIDTH for index in range(SAMPLES)],
                                 "y": [[float(index % 3)] for index in range(SAMPLES)]}).shuffle(seed=4)
    loader = DataLoader(rows.with_format("torch"), BATCH, shuffle=True, num_workers=2)
    return train(_Pairs(loader))


class _Pairs:
    def __init__(self, loader):
        self._loader = loader

    def __iter__(self):
        return ((batch["x"], batch["y"]) for batch in self._loader)


def main():
    torch.manual_seed(0)
    random.seed(0)
    torch.set_num_threads(1)
    model = globals()[sys.argv[1]]()
    weights = b"".join(part.detach().numpy().tobytes() for part in model.parameters())
    print(json.dumps({"losses": hashlib.sha256(repr(LOSSES).encode()).hexdigest()[:16], "count": len(LOSSES),
                      "weights": hashlib.sha256(weights).hexdigest()[:16], "next": torch.rand(1).item()}))


if __name__ == "__main__":
    main()
