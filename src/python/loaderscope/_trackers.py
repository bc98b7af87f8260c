"""Places where people look at a training: W&B, MLflow, TensorBoard, and other loggers of Lightning.

A tracker never ends or delays a training: the first failure of one is a sentence on standard error, and it gets nothing more.
"""

import os
import queue
import sys
import tempfile
import threading
import time

PAGE = "loaderscope.html"
ANSWER = "loaderscope"  # name of a text
LONGEST_UPLOAD_S = 10  # wait for MLflow at the end of a training


class WandbRun:
    """A run of W&B, which writes to a file and sends it in another process."""

    name = "W&B"

    def __init__(self, run, step_name):
        self._run, self._step_name = run, step_name

    def log(self, figures, step):
        self._run.log({**figures, self._step_name: step})

    def finish(self, page, answer, step):
        import wandb
        self._run.log({"loaderscope/page": wandb.Html(page, inject=False), self._step_name: step})


class MLflowRun:
    """A run of MLflow. Its server may be slow or gone, so another thread talks to it."""

    name = "MLflow"

    def __init__(self, client, run_id):
        self._client, self._run_id = client, run_id
        self._calls, self._failure = queue.Queue(), None
        threading.Thread(target=self._send, name="loaderscope-mlflow", daemon=True).start()

    def log(self, figures, step):
        from mlflow.entities import Metric
        self._raise_failure()
        at_ms = int(time.time() * 1000)
        metrics = [Metric(key=name, value=value, timestamp=at_ms, step=step) for name, value in figures.items()]
        self._calls.put(lambda: self._client.log_batch(self._run_id, metrics=metrics))

    def finish(self, page, answer, step):
        done = threading.Event()
        self._calls.put(lambda: self._upload(page))
        self._calls.put(done.set)
        if not done.wait(LONGEST_UPLOAD_S):
            raise TimeoutError(f"it did not take the page within {LONGEST_UPLOAD_S} s")
        self._raise_failure()

    def _upload(self, page):
        with tempfile.TemporaryDirectory(prefix="loaderscope-") as folder:
            self._client.log_artifact(self._run_id, save_page(page, folder))

    def _send(self):
        while True:
            call = self._calls.get()
            try:
                call()
            except Exception as error:
                self._failure = self._failure or error

    def _raise_failure(self):
        if self._failure is not None:
            raise self._failure


class TensorBoardWriter:
    """A SummaryWriter. TensorBoard shows no page, so it gets the answer as text, and its folder the page."""

    name = "TensorBoard"

    def __init__(self, writer, folder, is_own=False):
        self._writer, self._folder, self._is_own = writer, folder, is_own

    def log(self, figures, step):
        for name, value in figures.items():
            self._writer.add_scalar(name, value, step)
        self._writer.flush()

    def finish(self, page, answer, step):
        self._writer.add_text(ANSWER, "\n".join("    " + line for line in answer.splitlines()), step)
        self._writer.flush()
        if self._is_own:
            self._writer.close()
        save_page(page, self._folder)


class OtherLogger:
    """Any other logger of Lightning: its figures, and the page in its folder if it has one."""

    def __init__(self, logger):
        self._logger = logger
        self.name = type(logger).__name__

    def log(self, figures, step):
        self._logger.log_metrics(figures, step=step)

    def finish(self, page, answer, step):
        folder = getattr(self._logger, "log_dir", None)
        if isinstance(folder, str) and os.path.isdir(folder):
            save_page(page, folder)


def save_page(page, folder):
    path = os.path.join(folder, PAGE)
    with open(path, "w", encoding="utf-8") as file:
        file.write(page)
    return path


class Trackers:
    """All places of one training. `makers`: pairs of a name and a function that returns a tracker, or None."""

    def __init__(self, makers=()):
        self._trackers = []
        for name, make in makers:
            try:
                made = make()
            except Exception as error:
                say_failure(name, error)
                continue
            if made is not None:
                self._trackers.append(made)

    def __bool__(self):
        return bool(self._trackers)

    def log(self, figures, step):
        self._call(lambda tracker: tracker.log(figures, step))

    def finish(self, page, answer, step):
        self._call(lambda tracker: tracker.finish(page, answer, step))
        self._trackers = []

    def _call(self, call):
        for tracker in list(self._trackers):
            try:
                call(tracker)
            except Exception as error:
                self._trackers.remove(tracker)
                say_failure(tracker.name, error)


def say_failure(name, error):
    reason = " ".join(str(error).split())[:200] or type(error).__name__
    print(f"loaderscope: {name} does not get the figures of the loader ({reason})", file=sys.stderr)
