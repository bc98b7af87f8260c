"""Files that a program touches, traced in a Python of its own."""

import os
import subprocess
import sys
import tempfile
import unittest

GUEST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "src", "guest", "python")

PROGRAM = """
import sys
sys.path[:0] = [{guest!r}, "."]
from importlib.util import module_from_spec, spec_from_file_location
spec = spec_from_file_location("touched", {guest!r} + "/loaderscope_guest/file_trace.py")
touched = module_from_spec(spec)
spec.loader.exec_module(touched)
touched.begin()
{body}
"""


class TouchedTest(unittest.TestCase):
    def touched(self, body: str) -> list:
        with tempfile.TemporaryDirectory() as folder:
            below = os.path.join(os.path.realpath(folder), "tree")
            os.makedirs(os.path.join(below, "lib"))
            for name, text in (("lib/__init__.py", ""), ("lib/data.py", "X = 1"), ("config.yaml", "a: 1")):
                with open(os.path.join(below, name), "w", encoding="utf-8") as file:
                    file.write(text)
            output = os.path.join(folder, "touched")
            environment = dict(os.environ, LOADERSCOPE_TOUCHED=output, LOADERSCOPE_TOUCHED_BELOW=below)
            program = PROGRAM.format(guest=os.path.abspath(GUEST), body=body)
            subprocess.run([sys.executable, "-c", program], cwd=below, env=environment, check=True)
            with open(output, encoding="utf-8") as lines:
                return sorted(set(lines.read().split("\n")) - {""})

    def test_reports_modules_and_files_once_by_path_in_tree(self):
        body = "import lib.data\nfor _ in range(3): open('config.yaml').close()\nopen('/dev/null').close()"
        touched = [line for line in self.touched(body) if "__pycache__" not in line]
        self.assertEqual(touched, ["config.yaml", "lib/__init__.py", "lib/data.py"])

    def test_reports_source_of_compiled_module(self):
        body = "import py_compile; py_compile.compile('lib/data.py'); import lib.data"
        self.assertIn("lib/data.py", self.touched(body))

    def test_reports_files_of_forked_process(self):
        body = "import os\nif os.fork() == 0:\n    open('config.yaml').close(); os._exit(0)\nos.wait()"
        self.assertEqual(self.touched(body), ["config.yaml"])

    def test_reports_programs_except_system_queries(self):
        self.assertEqual(self.touched("import subprocess; subprocess.run(['uname'], capture_output=True)"), [])
        self.assertEqual(self.touched("import subprocess; subprocess.run(['true'])"), ["!"])
        self.assertEqual(self.touched("import os; os.system('true')"), ["!"])

    def test_ignores_descriptors_instead_of_paths(self):
        self.assertEqual(self.touched("import os; os.fdopen(os.dup(0)).close(); open(os.dup(0)).close()"), [])


if __name__ == "__main__":
    unittest.main()
