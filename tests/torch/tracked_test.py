"""Real W&B, MLflow and TensorBoard, offline, in real trainers: tracked_test.py PROGRAM lightning|transformers.

PyTorch and the trainers are those of this Python. LOADERSCOPE_TRACKERS_PYTHON (scripts/python-env trackers) has the others.
"""

import glob
import os
import pathlib
import subprocess
import sys
import tempfile
import time

SKIPPED = 77
PROGRAM, TRAINER = os.path.abspath(sys.argv[1]), sys.argv[2]
if given := os.environ.get("LOADERSCOPE_TRACKERS_PYTHON"):
    sys.path.append(subprocess.run([given, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], check=True,
                                   capture_output=True, text=True).stdout.strip())
try:
    import torch
    import wandb
    import mlflow
    import tensorboard  # noqa: F401
    __import__(TRAINER)
except ImportError as error:
    print(f"skipped: {error}; scripts/python-env and scripts/python-env trackers make Pythons that have it")
    sys.exit(SKIPPED)

from tiny_training import BATCH, Model, SlowSamples, lightning_module  # noqa: E402

STEPS, EPOCHS = 60, 2
SAMPLES = SlowSamples(STEPS, seconds=0.005)
LONGEST_WRITE_S = 30
RATE = "loaderscope/batches_per_s"


def train_lightning(folder, uri):
    import lightning
    import loaderscope.lightning
    from lightning.pytorch import loggers

    trackers = [loggers.WandbLogger(save_dir=folder, offline=True), loggers.MLFlowLogger(tracking_uri=uri),
                loggers.TensorBoardLogger(folder), loggers.CSVLogger(folder)]
    trainer = lightning.Trainer(
        max_epochs=EPOCHS, callbacks=[loaderscope.lightning.Watch(interval="200ms", show=False)], accelerator="cpu",
        logger=trackers, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False)
    trainer.fit(lightning_module(), torch.utils.data.DataLoader(SAMPLES, batch_size=BATCH, num_workers=2))
    csv, = glob.glob(f"{folder}/**/metrics.csv", recursive=True)
    assert RATE in pathlib.Path(csv).read_text().splitlines()[0]
    return trackers[1].run_id


def train_transformers(folder, uri):
    import transformers
    import loaderscope.transformers

    mlflow.set_tracking_uri(uri)
    how = transformers.TrainingArguments(
        folder, num_train_epochs=EPOCHS, per_device_train_batch_size=BATCH, dataloader_num_workers=2, use_cpu=True,
        report_to=["wandb", "mlflow", "tensorboard"], save_strategy="no", disable_tqdm=True)
    watch = loaderscope.transformers.Watch(interval="200ms", show=False)
    transformers.Trainer(model=Model(), args=how, train_dataset=SAMPLES, callbacks=[watch]).train()
    return mlflow.last_active_run().info.run_id


def check_wandb(folder):
    run, = glob.glob(f"{folder}/wandb/offline-run-*")
    page, = glob.glob(f"{run}/files/media/html/loaderscope/*.html")
    assert pathlib.Path(page).read_text().startswith("<!doctype html>")
    log, = glob.glob(f"{run}/*.wandb")
    deadline = time.monotonic() + LONGEST_WRITE_S  # another process of W&B writes
    while (count := pathlib.Path(log).read_bytes().count(RATE.encode())) < EPOCHS:
        assert time.monotonic() < deadline, count
        time.sleep(0.1)


def check_mlflow(uri, run_id):
    client = mlflow.MlflowClient(uri)
    history = client.get_metric_history(run_id, RATE)
    assert [one.step for one in history] == [STEPS, EPOCHS * STEPS], history
    assert "loaderscope.html" in [one.path for one in client.list_artifacts(run_id)]


def check_tensorboard(folder):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    files = [path for path in glob.glob(f"{folder}/**/events.out.*", recursive=True) if "wandb" not in path]
    page, = {os.path.join(os.path.dirname(path), "loaderscope.html") for path in files}
    assert pathlib.Path(page).read_text().startswith("<!doctype html>")
    events = EventAccumulator(os.path.dirname(page))
    events.Reload()
    assert [one.step for one in events.Scalars(RATE)] == [STEPS, EPOCHS * STEPS]
    text = events.Tensors("loaderscope/text_summary")[0].tensor_proto.string_val[0].decode()
    assert text.startswith("    "), text


def main():
    with tempfile.TemporaryDirectory(prefix="loaderscope-face-") as folder:
        os.symlink(PROGRAM, os.path.join(folder, "loaderscope"))
        uri = f"file:{folder}/mlruns"
        os.environ.update(PATH=folder + os.pathsep + os.environ["PATH"], WANDB_MODE="offline", WANDB_DIR=folder,
                          WANDB_SILENT="true", MLFLOW_TRACKING_URI=uri, MLFLOW_ALLOW_FILE_STORE="true")
        os.chdir(folder)
        train = {"lightning": train_lightning, "transformers": train_transformers}[TRAINER]
        run_id = train(folder, uri)
        wandb.finish()
        check_wandb(folder)
        check_mlflow(uri, run_id)
        check_tensorboard(folder)
        os.chdir("/")
    print("W&B, MLflow and TensorBoard have the figures and the page")


if __name__ == "__main__":
    main()
