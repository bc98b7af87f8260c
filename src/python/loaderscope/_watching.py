"""This process and its workers, looked at from outside while a block runs."""

import os
import signal
import subprocess
import sys
import tempfile
import warnings

from ._program import Error, program, read_result

LONGEST_END_S = 20  # a reading, the verdict, and the file


def warn(text):
    """Never raises, also where the program has made errors of warnings."""
    try:
        warnings.warn(text, stacklevel=2)
    except Warning:
        print(text, file=sys.stderr)


class watching:
    """`with watching(loader) as watched: ...`; then `watched.result` is what `loaderscope watch --json` writes, or None with
    `watched.error`. What is watched is never disturbed: whatever goes wrong here is said as a warning.

    `loader`: only looked at, to say beforehand what cannot be seen. `interval`: between two readings, as 1s. `keep_page`:
    `watched.page` is what `loaderscope watch --html` writes. `is_quiet`: a failure is only in `watched.error`."""

    def __init__(self, loader=None, *, interval="1s", show=True, keep_page=False, is_quiet=False):
        self.result, self.error, self.page = None, None, None
        self._loader, self._interval, self._show = loader, interval, show
        self._keeps_page, self._is_quiet = keep_page, is_quiet
        self._process = self._folder = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()

    def start(self):
        """Starts a watch. Replaces a watch that was not stopped."""
        self._abandon()
        self.result = self.error = self.page = None
        if getattr(self._loader, "num_workers", None) == 0:
            warn("the loader has no workers that a watch could see from outside: loaderscope.run measures it")
        try:
            self._folder = tempfile.TemporaryDirectory(prefix="loaderscope-")
            words = [program(), "watch", f"--pid={os.getpid()}", f"--interval={self._interval}", "--no-progress",
                     f"--json={self._saved()}"]
            if self._keeps_page:
                words.append(f"--html={self._saved_page()}")
            # A session of its own: Ctrl-C is for the training.
            self._process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                             stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True)
        except (Error, OSError) as error:
            self._failed(error)

    def stop(self):
        process, self._process = self._process, None
        if process is not None:
            try:
                process.send_signal(signal.SIGINT)
                text, _ = process.communicate(timeout=LONGEST_END_S)
                if process.returncode == -signal.SIGINT:
                    raise Error("the block was over before watching had begun")
                self.result = read_result(self._saved(), process.returncode, text)
                if self._keeps_page:
                    with open(self._saved_page(), encoding="utf-8") as file:
                        self.page = file.read()
                if self._show:
                    print(text, end="", flush=True)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
                self._failed(f"loaderscope watch did not end within {LONGEST_END_S} s")
            except (Error, OSError) as error:
                self._failed(error)
        self._clean_up()

    def _abandon(self):
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()
        self._clean_up()

    def _clean_up(self):
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    def _saved(self):
        return os.path.join(self._folder.name, "watch.json")

    def _saved_page(self):
        return os.path.join(self._folder.name, "watch.html")

    def _failed(self, error):
        self.error = str(error)
        if not self._is_quiet:
            warn(f"loaderscope: {error}")
