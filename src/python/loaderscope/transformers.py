"""Hugging Face: Trainer(..., callbacks=[loaderscope.transformers.Watch()]); after train, its `result` is the answer.

W&B, MLflow and TensorBoard of `report_to` get figures of the loader after each epoch, and its page at the end.
"""

import glob
import os
import sys

try:
    from transformers import TrainerCallback
except ModuleNotFoundError as error:
    if error.name != "transformers":
        raise  # the package exists, and lacks a module itself
    raise ImportError("loaderscope.transformers needs transformers: pip install transformers") from None

from ._epochs import TrackedTraining
from ._trackers import MLflowRun, TensorBoardWriter, WandbRun


class Watch(TrainerCallback):
    """The first rank of each machine is watched while it trains. `track=False` gives nothing to `report_to`."""

    def __init__(self, interval="1s", show=True, track=True):
        self._training = TrackedTraining(interval, show, track)

    @property
    def result(self):
        return self._training.whole.result

    @property
    def error(self):
        return self._training.whole.error

    def on_train_begin(self, args, state, control, **kwargs):
        if state.is_local_process_zero:
            self._training.begin(_makers(args) if state.is_world_process_zero else ())

    def on_epoch_begin(self, args, state, control, **kwargs):
        self._training.begin_epoch()

    def on_substep_end(self, args, state, control, **kwargs):
        self._training.count_batch()

    def on_step_end(self, args, state, control, **kwargs):
        self._training.count_batch()

    def on_epoch_end(self, args, state, control, **kwargs):
        self._training.end_epoch(state.global_step)

    def on_train_end(self, args, state, control, **kwargs):
        self._training.end(state.global_step)


def _makers(args):
    """The trainer's own callbacks have run before, so that their runs exist."""
    makers = {"wandb": ("W&B", _wandb), "mlflow": ("MLflow", _mlflow), "tensorboard": ("TensorBoard", _tensorboard)}
    found = []
    for name in makers.keys() & set(args.report_to or ()):
        shown, make = makers[name]
        found.append((shown, lambda make=make: make(args)))
    return found


def _wandb(args):
    run = getattr(sys.modules.get("wandb"), "run", None)
    return WandbRun(run, "train/global_step") if run is not None else None


def _mlflow(args):
    mlflow = sys.modules.get("mlflow")
    run = mlflow.active_run() if mlflow is not None else None
    return MLflowRun(mlflow.MlflowClient(), run.info.run_id) if run is not None else None


def _tensorboard(args):
    """A second writer for the folder in which this process has begun to write."""
    from torch.utils.tensorboard import SummaryWriter
    named = os.environ.get("TENSORBOARD_LOGGING_DIR") or getattr(args, "logging_dir", None)
    folders = [named and os.path.expanduser(named), os.path.join(args.output_dir, "runs")]
    files = [path for folder in folders if folder
             for path in glob.glob(os.path.join(glob.escape(folder), "**", f"events.out.tfevents.*.{os.getpid()}.*"),
                                   recursive=True)]
    if not files:
        return None
    folder = os.path.dirname(max(files, key=os.path.getmtime))
    return TensorBoardWriter(SummaryWriter(log_dir=folder), folder, is_own=True)
