"""The callbacks for trainers, in the trainers themselves: callback_test.py PROGRAM lightning|transformers."""

import os
import pathlib
import sys
import tempfile
import time

try:
    import torch
    __import__(sys.argv[2])
except ImportError as error:
    print(f"skipped: {error}; scripts/python-env makes a Python that has it")
    sys.exit(77)

FACE = pathlib.Path(__file__).resolve().parents[2] / "src" / "python"
sys.path.insert(0, str(FACE))
PROGRAM, TRAINER = os.path.abspath(sys.argv[1]), sys.argv[2]
BATCH, STEPS = 8, 300


class SlowSamples(torch.utils.data.Dataset):
    """Two workers give 2,400 samples in 12 s, as long as a verdict asks for; training takes next to nothing."""

    def __len__(self):
        return BATCH * STEPS

    def __getitem__(self, i):
        time.sleep(0.01)
        return {"x": torch.ones(4), "labels": torch.tensor(i % 2)}


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 2)

    def forward(self, x, labels):
        logits = self.layer(x)
        return {"loss": torch.nn.functional.cross_entropy(logits, labels), "logits": logits}


def train_lightning():
    import lightning
    import loaderscope.lightning

    class Module(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.model = Model()

        def training_step(self, batch, _):
            return self.model(**batch)["loss"]

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), 0.1)

    watch = loaderscope.lightning.Watch(interval="200ms", show=False)
    trainer = lightning.Trainer(max_epochs=1, callbacks=[watch], accelerator="cpu", logger=False,
                                enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False)
    trainer.fit(Module(), torch.utils.data.DataLoader(SlowSamples(), batch_size=BATCH, num_workers=2))
    return watch


def train_transformers():
    import transformers
    import loaderscope.transformers

    watch = loaderscope.transformers.Watch(interval="200ms", show=False)
    with tempfile.TemporaryDirectory(prefix="loaderscope-trainer-") as folder:
        how = transformers.TrainingArguments(
            folder, num_train_epochs=1, per_device_train_batch_size=BATCH, dataloader_num_workers=2, use_cpu=True,
            report_to=[], save_strategy="no", disable_tqdm=True)
        transformers.Trainer(model=Model(), args=how, train_dataset=SlowSamples(), callbacks=[watch]).train()
    return watch


def main():
    with tempfile.TemporaryDirectory(prefix="loaderscope-face-") as folder:
        os.symlink(PROGRAM, os.path.join(folder, "loaderscope"))
        os.environ["PATH"] = folder + os.pathsep + os.environ["PATH"]
        watch = {"lightning": train_lightning, "transformers": train_transformers}[TRAINER]()
    result = watch.result
    assert result is not None, watch.error
    assert result["schema"] == "loaderscope.watch/1", result["schema"]
    assert result["pid"] == os.getpid(), result["pid"]
    assert result["verdict"]["limit"] == "waits", result["verdict"]
    print("watched:", result["verdict"]["sentence"])


if __name__ == "__main__":
    main()
