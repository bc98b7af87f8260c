"""Lightning: Trainer(callbacks=[loaderscope.lightning.Watch()]); after fit, its `result` is the answer."""

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

from ._watching import watching


class Watch(Callback):
    """The first rank of each machine is watched while it trains."""

    def __init__(self, interval="1s", show=True):
        self._watching = watching(interval=interval, show=show)

    @property
    def result(self):
        return self._watching.result

    def on_train_start(self, trainer, pl_module):
        if getattr(trainer, "local_rank", 0) == 0:
            self._watching.start()

    def on_train_end(self, trainer, pl_module):
        self._watching.stop()

    def on_exception(self, trainer, pl_module, exception):
        self._watching.stop()
