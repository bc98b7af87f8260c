"""Figures of each epoch of a training, and the page of all of it, for trackers."""

import time

from ._trackers import Trackers
from ._watching import watching


def read_figures(result):
    """Up to five figures of a result of `loaderscope watch`. What is not known is missing."""
    figures = {}
    waits, workers = result.get("waits") or {}, result.get("workers") or {}
    if waits.get("known"):
        figures["loaderscope/wait_share"] = waits["share"]
    if workers.get("seen"):
        shares = workers["shares"]
        figures["loaderscope/worker_cpu_share"] = shares["cpu"]
        figures["loaderscope/worker_storage_share"] = shares["storage"] + shares["network"]
        figures["loaderscope/worker_no_core_share"] = shares["no_core"]
    gpus = [gpu["busy"] for gpu in result.get("gpus") or [] if gpu.get("of_job")]
    if gpus:
        figures["loaderscope/gpu_busy_share"] = sum(gpus) / len(gpus)
    return figures


class TrackedTraining:
    """A training that is watched as a whole, and for trackers each epoch by itself, too.

    No method raises an error of watching or of a tracker.
    """

    def __init__(self, interval, show, track):
        self.whole = watching(interval=interval, show=show, keep_page=track)
        self._interval, self._track = interval, track
        self._trackers, self._epoch = Trackers(), None

    def begin(self, makers):
        """Starts to watch. `makers`: see Trackers."""
        self._trackers = Trackers(makers if self._track else ())
        self.whole.start()

    def begin_epoch(self):
        if not self._trackers:
            return
        self._batches, self._paused_s, self._paused_at = 0, 0.0, None
        self._begin_s = time.monotonic()
        self._epoch = watching(interval=self._interval, show=False, is_quiet=True)
        self._epoch.start()

    def count_batch(self):
        if self._epoch is not None:
            self._batches += 1

    def pause(self):
        """Leaves out the time until resume() from the rate: a validation."""
        if self._epoch is not None:
            self._paused_at = time.monotonic()

    def resume(self):
        if self._epoch is not None and self._paused_at is not None:
            self._paused_s += time.monotonic() - self._paused_at
            self._paused_at = None

    def end_epoch(self, step):
        epoch, self._epoch = self._epoch, None
        if epoch is None:
            return
        trained_s = time.monotonic() - self._begin_s - self._paused_s
        epoch.stop()
        figures = {"loaderscope/batches_per_s": self._batches / trained_s} if self._batches and trained_s > 0 else {}
        if epoch.result is not None:
            figures.update(read_figures(epoch.result))
        if figures:
            self._trackers.log(figures, step)

    def end(self, step):
        epoch, self._epoch = self._epoch, None
        if epoch is not None:
            epoch.stop()
        self.whole.stop()
        if self._trackers and self.whole.result is not None and self.whole.page:
            self._trackers.finish(self.whole.page, self.whole.result.text, step)
        self._trackers = Trackers()
