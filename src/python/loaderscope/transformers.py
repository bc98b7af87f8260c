"""Hugging Face: Trainer(..., callbacks=[loaderscope.transformers.Watch()]); after train, its `result` is the answer."""

try:
    from transformers import TrainerCallback
except ModuleNotFoundError as error:
    if error.name != "transformers":
        raise  # the package exists, and lacks a module itself
    raise ImportError("loaderscope.transformers needs transformers: pip install transformers") from None

from ._watching import watching


class Watch(TrainerCallback):
    """The first rank of each machine is watched while it trains."""

    def __init__(self, interval="1s", show=True):
        self._watching = watching(interval=interval, show=show)

    @property
    def result(self):
        return self._watching.result

    def on_train_begin(self, args, state, control, **kwargs):
        if state.is_local_process_zero:
            self._watching.start()

    def on_train_end(self, args, state, control, **kwargs):
        self._watching.stop()
