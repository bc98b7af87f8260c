"""The Python face of the program: face_test.py PROGRAM."""

import contextlib
import importlib
import io
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import warnings

os.environ.setdefault("LOADERSCOPE_SUMMARY", "full")  # the tests expect texts of the long answer

HERE = pathlib.Path(__file__).resolve().parent
FACE = HERE.parents[1] / "src" / "python"
sys.path.insert(0, str(FACE))
import loaderscope
from loaderscope import _program

SHORT = dict(device="sim", compute="1ms", cost=["read=10us", "decode=10us"], batch=8, steps=20, warmup=0)
JOBS = HERE / "face_jobs.py"
# Runs until it is ended, and has printed "far" when steps of it are measured.
ENDLESS = dict(loader=f"{JOBS}:make_loader", train_step=f"{JOBS}:step", duration="1h", warmup=0, hook_cost=False)
RUNS_ENDLESS = f"""
import sys
sys.path.insert(0, {str(FACE)!r})
import loaderscope
try:
    loaderscope.run(**{ENDLESS!r})
except KeyboardInterrupt as interrupt:
    print("raised with code", interrupt.result.exit_code, "behind", interrupt.result["window"]["steps"], "steps")
"""


class BrokenOutput(io.StringIO):
    def write(self, text):
        raise BrokenPipeError("no reader")


def processes_with(word):
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # the process has ended
            if word in (folder / "cmdline").read_text():
                found.append(folder.name)
    return found


def is_caught_by(process, number):
    """Waits for a process to have a handler for the signal, or to end."""
    while process.poll() is None:
        status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
        if int(status.split("SigCgt:")[1].split()[0], 16) >> (number - 1) & 1:
            return True
        time.sleep(0.01)
    return False


class Face(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="loaderscope-face-")
        cls.addClassCleanup(folder.cleanup)
        os.symlink(PROGRAM, os.path.join(folder.name, "loaderscope"))
        before = os.environ["PATH"]
        cls.addClassCleanup(os.environ.__setitem__, "PATH", before)
        os.environ["PATH"] = folder.name + os.pathsep + before

    def test_turns_settings_into_flags(self):
        settings = dict(num_workers=2, shuffle=True, in_order=False, cost=["a=1", "b=2"], try_=True, json=None)
        self.assertEqual(_program.make_flags(settings),
                         ["--num-workers=2", "--shuffle", "--no-in-order", "--cost=a=1", "--cost=b=2", "--try"])

    def test_returns_dict_of_result_file(self):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            result = loaderscope.run(**SHORT)
        self.assertEqual(result["schema"], "loaderscope.run/1")
        self.assertEqual(result["window"]["steps"], 20)
        self.assertEqual(result.exit_code, 0)
        self.assertEqual(printed.getvalue(), result.text)
        self.assertTrue(result.text.startswith("Simulated: "), result.text)

    def test_accepts_flag_that_is_python_keyword(self):
        with self.assertRaisesRegex(loaderscope.Error, "^--try: is another word for --prove fix"):
            loaderscope.run(try_=True, prove="fix", show=False)

    def test_saves_result_on_request(self):
        with tempfile.TemporaryDirectory(prefix="loaderscope-face-") as folder:
            place = pathlib.Path(folder) / "r.json"
            result = loaderscope.run(json=place, show=False, **SHORT)
            self.assertEqual(json.loads(place.read_text()), result)
            with self.assertRaisesRegex(loaderscope.Error, "/nowhere") as caught:
                loaderscope.run(json=str(place), data="/nowhere", show=False)
            self.assertIsNone(caught.exception.result)  # the result of the previous run is not reused
            place.write_text("mine")
            with self.assertRaisesRegex(loaderscope.Error, "r.json: exists and is no result"):
                loaderscope.run(json=place, show=False, **SHORT)
        alone = loaderscope.run(json="-", show=False, **SHORT)
        self.assertEqual(json.loads(alone.text), alone)

    def test_names_no_deleted_file(self):
        waits = dict(SHORT, cost=["read=3ms"], num_workers=1, steps=400)
        result = loaderscope.run(show=False, engine="model", **waits)
        self.assertIn("Next: loaderscope run ", result.text)
        self.assertNotIn("saved ", result.text)
        self.assertNotIn("result.json", result.text + json.dumps(result))
        last = subprocess.run([PROGRAM, "report", "last"], capture_output=True, text=True, check=True)
        self.assertNotIn("result.json", last.stdout)

    def test_returns_result_of_failed_requirement(self):
        result = loaderscope.run(show=False, require="window.steps >= 1000", **SHORT)
        self.assertEqual(result.exit_code, 2)
        self.assertEqual(result["window"]["steps"], 20)

    def test_raises_error_with_sentence_of_program(self):
        with self.assertRaisesRegex(loaderscope.Error, "^--num-worker: unknown flag"):
            loaderscope.run(num_worker=3, show=False)
        with self.assertRaisesRegex(loaderscope.Error, "/nowhere"):
            loaderscope.run(data="/nowhere", show=False)

    def test_measures_command_and_prints_its_output(self):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), self.assertRaisesRegex(loaderscope.Error, "without taking a batch"):
            loaderscope.run([sys.executable, "-c", "print('mine')"])
        self.assertIn("mine\n", printed.getvalue())

    def test_keeps_progress_bar_on_one_line(self):
        command = [sys.executable, "-c", r"print('\r10 %\r20 %\r30 %\nBehind')"]
        printed = io.StringIO(newline="")
        with contextlib.redirect_stdout(printed), self.assertRaisesRegex(loaderscope.Error, "without taking a batch") as caught:
            loaderscope.run(command)
        self.assertIn("\r10 %\r20 %\r30 %\nBehind\n", printed.getvalue())
        self.assertIn("\r10 %\r20 %\r30 %\nBehind\n", caught.exception.text)

    def test_runs_loader_in_calling_python(self):
        settings = {**ENDLESS, "duration": None, "steps": 5}
        with unittest.mock.patch.dict(os.environ, PATH=os.path.dirname(loaderscope.program())):  # no python3 is there
            self.assertEqual(loaderscope.run(show=False, **settings)["config"]["python"], sys.executable)
        with self.assertRaisesRegex(loaderscope.Error, "/nowhere/python"):
            loaderscope.run(show=False, python="/nowhere/python", **settings)

    def test_includes_hidden_output_of_command_in_error(self):
        command = [sys.executable, "-c", "import no_such_module"]
        with self.assertRaisesRegex(loaderscope.Error, "above: ModuleNotFoundError: .*no_such_module") as caught:
            loaderscope.run(command, show=False)
        self.assertIn("Traceback", caught.exception.text)

    def test_includes_result_of_failed_job_in_error(self):
        with self.assertRaisesRegex(loaderscope.Error, "ended with exit code 1; .* above: RuntimeError: lost$") as caught:
            loaderscope.run(show=False, **{**ENDLESS, "train_step": f"{JOBS}:step_that_fails"})
        self.assertEqual(caught.exception.result["interrupted"], True)
        self.assertGreater(caught.exception.result["window"]["steps"], 0)
        self.assertEqual(caught.exception.result.exit_code, 1)

    def test_prints_answer_and_raises_interrupt_of_group(self):
        with subprocess.Popen([sys.executable, "-u", "-c", RUNS_ENDLESS], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, start_new_session=True) as caller:
            seen = []
            for line in caller.stdout:
                seen.append(line)
                if line == "far\n":
                    os.killpg(caller.pid, signal.SIGINT)
        self.assertRegex("".join(seen), "(?s)interrupted after [0-9]+ measured steps.*raised with code 130 behind [0-9]+ steps")

    def test_ends_run_with_killed_caller(self):
        with tempfile.TemporaryDirectory(prefix="loaderscope-face-") as folder:
            jobs = os.path.join(folder, JOBS.name)
            os.symlink(JOBS, jobs)
            with subprocess.Popen([sys.executable, "-u", "-c", RUNS_ENDLESS.replace(str(JOBS), jobs)], text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True) as caller:
                self.assertIn("far\n", iter(caller.stdout.readline, ""))
                self.assertNotEqual(processes_with(jobs), [str(caller.pid)])
                caller.kill()
            while processes_with(jobs):
                time.sleep(0.1)

    def test_ends_run_and_raises_error_of_output(self):
        with contextlib.redirect_stdout(BrokenOutput()), self.assertRaisesRegex(BrokenPipeError, "no reader") as caught:
            loaderscope.run(**ENDLESS)
        self.assertEqual(caught.exception.result.exit_code, 130)

    def test_names_missing_trainer(self):
        hidden = dict.fromkeys(("lightning", "lightning.pytorch", "pytorch_lightning", "transformers"))
        for name in ("lightning", "transformers"):
            with unittest.mock.patch.dict(sys.modules, hidden), self.assertRaisesRegex(ImportError, f"pip install {name}$"):
                importlib.import_module(f"loaderscope.{name}")

    def test_names_missing_dependency_of_trainer(self):
        lacks = "import no_such_module"
        with tempfile.TemporaryDirectory(prefix="loaderscope-face-") as folder:
            for file in ("transformers.py", "lightning/pytorch/__init__.py"):
                place = pathlib.Path(folder, file)
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_text(lacks)
            for name in ("lightning", "transformers"):
                said = subprocess.run([sys.executable, "-c", f"import loaderscope.{name}"], capture_output=True, text=True,
                                      env={**os.environ, "PYTHONPATH": f"{folder}:{FACE}"})
                self.assertIn("ModuleNotFoundError: No module named 'no_such_module'", said.stderr)
                self.assertNotIn("pip install", said.stderr)

    def test_watches_block(self):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), loaderscope.watching(interval="100ms") as watched:
            subprocess.run([sys.executable, "-c", "import time; time.sleep(1)"], check=True)
        self.assertIsNone(watched.error)
        self.assertEqual(watched.result["schema"], "loaderscope.watch/1")
        self.assertEqual(watched.result["pid"], os.getpid())
        self.assertIn(watched.result["verdict"]["sentence"][:20], printed.getvalue())

    def test_restarts_watch_on_second_start(self):
        watched = loaderscope.watching(interval="100ms", show=False)
        watched.start()
        first, place = watched._process, watched._folder.name
        watched.result, watched.error = {"of": "before"}, "of before"
        watched.start()
        self.assertEqual(first.returncode, -signal.SIGKILL)
        self.assertFalse(os.path.exists(place))
        self.assertEqual((watched.result, watched.error), (None, None))
        self.assertTrue(is_caught_by(watched._process, signal.SIGINT))
        watched.stop()
        self.assertEqual(watched.error, None)
        self.assertEqual(watched.result["pid"], os.getpid())

    def test_warns_about_failed_watch(self):
        with warnings.catch_warnings(record=True) as seen, loaderscope.watching(interval="never") as watched:
            warnings.simplefilter("always")
            watched._process.wait()
        self.assertIsNone(watched.result)
        self.assertIn("--interval", watched.error)
        self.assertIn("--interval", str(seen[-1].message))

    def test_warns_without_raising_if_warnings_are_errors(self):
        class Loader:
            num_workers = 0

        printed = io.StringIO()
        with warnings.catch_warnings(), contextlib.redirect_stderr(printed):
            warnings.simplefilter("error")
            with loaderscope.watching(Loader(), interval="never", show=False) as watched:
                watched._process.wait()
        self.assertIn("--interval", watched.error)
        self.assertIn("no workers", printed.getvalue())
        self.assertIn("--interval", printed.getvalue())

    def test_warns_about_loader_without_workers(self):
        class Loader:
            num_workers = 0

        with self.assertWarnsRegex(UserWarning, "no workers"), loaderscope.watching(Loader(), show=False):
            pass

    def test_runs_program_as_module(self):
        said = subprocess.run([sys.executable, "-m", "loaderscope", "--version"], cwd=FACE, capture_output=True, text=True)
        own = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True)
        self.assertEqual((said.returncode, said.stdout), (0, own.stdout), said.stderr)

    def test_reports_missing_program(self):
        with unittest.mock.patch.dict(os.environ, PATH="/nowhere"), self.assertRaisesRegex(loaderscope.Error, "no program"):
            loaderscope.program()


if __name__ == "__main__":
    import unittest.mock

    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
