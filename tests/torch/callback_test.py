"""The callbacks for trainers, in the trainers themselves: callback_test.py PROGRAM lightning|transformers."""

import os
import sys
import tempfile

try:
    import torch
    __import__(sys.argv[2])
except ImportError as error:
    print(f"skipped: {error}; scripts/python-env makes a Python that has it")
    sys.exit(77)

from tiny_training import BATCH, Model, SlowSamples, lightning_module  # noqa: E402

PROGRAM, TRAINER = os.path.abspath(sys.argv[1]), sys.argv[2]
# Two workers give 2,400 samples in 12 s, as long as a verdict asks for. Training takes next to nothing.
SAMPLES = SlowSamples(steps=300, seconds=0.01)


def train_lightning():
    import lightning
    import loaderscope.lightning

    watch = loaderscope.lightning.Watch(interval="200ms", show=False)
    trainer = lightning.Trainer(max_epochs=1, callbacks=[watch], accelerator="cpu", logger=False,
                                enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False)
    trainer.fit(lightning_module(), torch.utils.data.DataLoader(SAMPLES, batch_size=BATCH, num_workers=2))
    return watch


def train_transformers():
    import transformers
    import loaderscope.transformers

    watch = loaderscope.transformers.Watch(interval="200ms", show=False)
    with tempfile.TemporaryDirectory(prefix="loaderscope-trainer-") as folder:
        how = transformers.TrainingArguments(
            folder, num_train_epochs=1, per_device_train_batch_size=BATCH, dataloader_num_workers=2, use_cpu=True,
            report_to=[], save_strategy="no", disable_tqdm=True)
        transformers.Trainer(model=Model(), args=how, train_dataset=SAMPLES, callbacks=[watch]).train()
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
