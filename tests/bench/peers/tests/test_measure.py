import sys
import time
import unittest

from peers import measure


def answer(code):
    return measure._run_for_answer([sys.executable, "-c", code])


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rpartition(")")[2].split()[0] not in ("Z", "X")
    except FileNotFoundError:
        return False


class AnswerTest(unittest.TestCase):
    def test_returns_printed_json(self):
        self.assertEqual(answer("print('{\"images\": 3}')")[0], {"images": 3})

    def test_reports_last_error_of_failure(self):
        with self.assertRaisesRegex(measure.Failed, "ModuleNotFoundError: No module named 'no_such_loader'"):
            answer("import no_such_loader")

    def test_rejects_output_without_json(self):
        with self.assertRaisesRegex(measure.Failed, "printed no JSON"):
            answer("print('a word')")

    def test_ends_workers_that_stay(self):
        code = ("import os, subprocess, sys\n"
                "worker = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(1000)'])\n"
                "print(worker.pid, flush=True)\n"
                "os._exit(0)")
        worker = answer(code)[0]
        deadline = time.monotonic() + 60
        while is_running(worker):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)
