import os
import subprocess
import sys
import time
import unittest

from peers import process_tree


class ProcessTreeTest(unittest.TestCase):
    def test_counts_children(self):
        code = "import sys; print(flush=True); sys.stdin.read()"
        with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
            child.stdout.readline()
            self.assertIn(child.pid, list(process_tree.processes(os.getpid())))
            alone = process_tree.memory_bytes(child.pid)
            self.assertGreater(alone, 0)
            self.assertGreater(process_tree.memory_bytes(os.getpid()), alone)
            self.assertGreater(process_tree.cpu_seconds(os.getpid()), process_tree.cpu_seconds(child.pid))
            child.communicate()

    def test_measures_cpu_time_of_the_process(self):
        before, own = process_tree.cpu_seconds(os.getpid()), time.process_time()
        while time.process_time() < own + 0.02:
            pass
        self.assertGreaterEqual(process_tree.cpu_seconds(os.getpid()) - before, 0.02)

    def test_counts_nothing_for_ended_process(self):
        with subprocess.Popen([sys.executable, "-c", ""]) as child:
            child.wait()
        self.assertEqual(process_tree.memory_bytes(child.pid), 0)
