"""Figures of the loader for W&B, MLflow and TensorBoard, without these libraries: tracker_test.py PROGRAM."""

import contextlib
import io
import os
import pathlib
import signal
import sys
import tempfile
import threading
import types
import unittest
import unittest.mock

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "src" / "python"))
from loaderscope import _epochs, _trackers

PAGE, ANSWER = "<!doctype html>\n<p>page</p>\n", "GPU waits\nFix: more"


class Recorder:
    name = "Recorder"

    def __init__(self):
        self.logged, self.finished = [], []

    def log(self, figures, step):
        self.logged.append((figures, step))

    def finish(self, page, answer, step):
        self.finished.append((page, answer, step))


class Broken(Recorder):
    name = "Broken"

    def log(self, figures, step):
        super().log(figures, step)
        raise OSError("no login\nfor this account")


class Metric(types.SimpleNamespace):
    pass


class MLflowClient:
    def __init__(self):
        self.batches, self.pages = [], []
        self.answers = threading.Event()
        self.answers.set()

    def log_batch(self, run_id, metrics):
        self.answers.wait()
        self.batches.append((run_id, [(one.key, one.value, one.step) for one in metrics]))

    def log_artifact(self, run_id, path):
        self.pages.append((os.path.basename(path), pathlib.Path(path).read_text()))


def wait_until_caught(process, number):
    """Waits for the process to have a handler for the signal."""
    while process.poll() is None:
        status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
        if int(status.split("SigCgt:")[1].split()[0], 16) >> (number - 1) & 1:
            return


def printed_errors(call):
    printed = io.StringIO()
    with contextlib.redirect_stderr(printed):
        call()
    return printed.getvalue()


class TrackersTest(unittest.TestCase):
    def test_drops_tracker_after_first_failure(self):
        good, broken = Recorder(), Broken()
        trackers = _trackers.Trackers([("a", lambda: broken), ("b", lambda: good), ("c", lambda: None)])

        def use():
            trackers.log({"x": 1}, 10)
            trackers.log({"x": 2}, 20)
            trackers.finish(PAGE, ANSWER, 20)

        said = printed_errors(use)
        self.assertEqual(said, "loaderscope: Broken does not get the figures of the loader (no login for this account)\n")
        self.assertEqual((len(broken.logged), broken.finished), (1, []))
        self.assertEqual(good.logged, [({"x": 1}, 10), ({"x": 2}, 20)])
        self.assertEqual(good.finished, [(PAGE, ANSWER, 20)])

    def test_reports_tracker_that_cannot_be_made(self):
        def fail():
            raise ValueError

        said = printed_errors(lambda: self.assertFalse(_trackers.Trackers([("W&B", fail)])))
        self.assertEqual(said, "loaderscope: W&B does not get the figures of the loader (ValueError)\n")

    def test_saves_figures_answer_and_page_of_tensorboard(self):
        calls = []
        writer = types.SimpleNamespace(
            add_scalar=lambda *of: calls.append(of), add_text=lambda *of: calls.append(of), flush=lambda: None,
            close=lambda: calls.append("closed"))
        with tempfile.TemporaryDirectory(prefix="loaderscope-face-") as folder:
            tracker = _trackers.TensorBoardWriter(writer, folder, is_own=True)
            tracker.log({"loaderscope/x": 0.5}, 7)
            tracker.finish(PAGE, ANSWER, 9)
            self.assertEqual(pathlib.Path(folder, "loaderscope.html").read_text(), PAGE)
        self.assertEqual(calls, [("loaderscope/x", 0.5, 7), ("loaderscope", "    GPU waits\n    Fix: more", 9), "closed"])

    def test_returns_before_slow_mlflow_answers(self):
        entities = types.SimpleNamespace(Metric=Metric)
        with unittest.mock.patch.dict(sys.modules, {"mlflow": types.ModuleType("mlflow"), "mlflow.entities": entities}):
            client = MLflowClient()
            client.answers.clear()
            trackers = _trackers.Trackers([("MLflow", lambda: _trackers.MLflowRun(client, "r1"))])
            trackers.log({"loaderscope/x": 0.5}, 7)  # returns although the client does not answer
            self.assertEqual(client.batches, [])
            with unittest.mock.patch.object(_trackers, "LONGEST_UPLOAD_S", 0.01):
                said = printed_errors(lambda: trackers.finish(PAGE, ANSWER, 9))
            self.assertIn("MLflow does not get", said)
            client.answers.set()

            client = MLflowClient()
            trackers = _trackers.Trackers([("MLflow", lambda: _trackers.MLflowRun(client, "r2"))])
            trackers.log({"loaderscope/x": 0.5}, 7)
            self.assertEqual(printed_errors(lambda: trackers.finish(PAGE, ANSWER, 9)), "")
            self.assertEqual(client.batches, [("r2", [("loaderscope/x", 0.5, 7)])])
            self.assertEqual(client.pages, [("loaderscope.html", PAGE)])


class EpochsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="loaderscope-face-")
        cls.addClassCleanup(folder.cleanup)
        os.symlink(PROGRAM, os.path.join(folder.name, "loaderscope"))
        path = unittest.mock.patch.dict(os.environ, PATH=folder.name + os.pathsep + os.environ["PATH"])
        path.start()
        cls.addClassCleanup(path.stop)

    def test_reads_five_figures_of_watch(self):
        shares = {"cpu": 0.5, "storage": 0.25, "network": 0.125, "no_core": 0.0625}
        result = {"waits": {"known": True, "share": 0.75}, "workers": {"seen": 2, "shares": shares},
                  "gpus": [{"busy": 0.5, "of_job": True}, {"busy": 1, "of_job": True}, {"busy": 0, "of_job": False}]}
        self.assertEqual(_epochs.read_figures(result), {
            "loaderscope/wait_share": 0.75, "loaderscope/worker_cpu_share": 0.5, "loaderscope/worker_storage_share": 0.375,
            "loaderscope/worker_no_core_share": 0.0625, "loaderscope/gpu_busy_share": 0.75})

    def test_leaves_out_unknown_figures(self):
        self.assertEqual(_epochs.read_figures({"waits": {"known": False, "share": 0}, "workers": {"seen": 0}}), {})

    def test_logs_each_epoch_and_page(self):
        recorder = Recorder()
        training = _epochs.TrackedTraining("100ms", show=False, track=True)
        training.begin([("Recorder", lambda: recorder)])
        for step in (3, 6):
            training.begin_epoch()
            for _ in range(3):
                training.count_batch()
            training.pause()
            training.resume()
            training.end_epoch(step)
        wait_until_caught(training.whole._process, signal.SIGINT)
        training.end(6)
        training.end(6)  # Lightning may call it again after an exception
        self.assertEqual([step for _, step in recorder.logged], [3, 6])
        for figures, _ in recorder.logged:
            self.assertGreater(figures["loaderscope/batches_per_s"], 0)
        self.assertIsNone(training.whole.error)
        (page, answer, step), = recorder.finished
        self.assertTrue(page.startswith("<!doctype html>"), page[:80])
        self.assertEqual((answer, step), (training.whole.result.text, 6))

    def test_watches_no_epoch_without_trackers(self):
        training = _epochs.TrackedTraining("100ms", show=False, track=False)
        training.begin([("Recorder", lambda: self.fail("a tracker was made"))])
        training.begin_epoch()
        self.assertIsNone(training._epoch)
        wait_until_caught(training.whole._process, signal.SIGINT)
        training.end(1)
        self.assertEqual(training.whole.result["pid"], os.getpid())


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
