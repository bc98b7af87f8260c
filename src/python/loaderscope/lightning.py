"""Lightning: Trainer(callbacks=[loaderscope.lightning.Watch()]); after fit, its `result` is the answer.

The loggers of the trainer get figures of the loader after each epoch, and its page at the end.
"""

try:
    from lightning.pytorch import Callback
except ModuleNotFoundError as error:
    if error.name not in ("lightning", "lightning.pytorch"):
        raise  # the package exists, and lacks a module itself
    try:
        from pytorch_lightning import Callback
    except ModuleNotFoundError as error:
        if error.name != "pytorch_lightning":
            raise
        raise ImportError("loaderscope.lightning needs Lightning: pip install lightning") from None

from ._epochs import TrackedTraining
from ._trackers import MLflowRun, OtherLogger, TensorBoardWriter, WandbRun


class Watch(Callback):
    """The first rank of each machine is watched while it trains. `track=False` gives nothing to the trainer's loggers."""

    def __init__(self, interval="1s", show=True, track=True):
        self._training = TrackedTraining(interval, show, track)

    @property
    def result(self):
        return self._training.whole.result

    @property
    def error(self):
        return self._training.whole.error

    def on_train_start(self, trainer, pl_module):
        if getattr(trainer, "local_rank", 0) == 0:
            self._training.begin(_makers(trainer) if getattr(trainer, "is_global_zero", True) else ())

    def on_train_epoch_start(self, trainer, pl_module):
        self._training.begin_epoch()

    def on_train_batch_end(self, *_):
        self._training.count_batch()

    def on_validation_start(self, trainer, pl_module):
        self._training.pause()

    def on_validation_end(self, trainer, pl_module):
        self._training.resume()

    def on_train_epoch_end(self, trainer, pl_module):
        self._training.end_epoch(trainer.global_step)

    def on_train_end(self, trainer, pl_module):
        self._training.end(trainer.global_step)

    def on_exception(self, trainer, pl_module, exception):
        self._training.end(trainer.global_step)


def _makers(trainer):
    return [(type(logger).__name__, lambda logger=logger: _tracker(logger)) for logger in trainer.loggers]


def _tracker(logger):
    names = {base.__name__ for base in type(logger).__mro__}
    if "WandbLogger" in names:
        return WandbRun(logger.experiment, "trainer/global_step")
    if "MLFlowLogger" in names:
        return MLflowRun(logger.experiment, logger.run_id)
    if "TensorBoardLogger" in names:
        return TensorBoardWriter(logger.experiment, logger.log_dir)
    return OtherLogger(logger)
