"""Runs the programs of one file of contract/ and writes the outcome of each as a line of JSON: contract_runs.py GROUP OUTPUT.
With a third word it runs only that program, in this process."""

import contextlib
import importlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import traceback

_FOLDER = pathlib.Path(__file__).resolve().parent / "contract"
_LONGEST = 120  # s, of one program
_OURS = "loaderscope_guest"  # the folder of frames that only a measured program has
_ADDRESS = re.compile(r"0x[0-9a-f]{6,}|(?<=pid )\d+|(?<=\(pid\(s\) )[\d, ]+|process \d{3,}|" + re.escape(tempfile.gettempdir()) + r"/\w+")


def import_group(group):
    sys.path.insert(0, str(_FOLDER))
    return importlib.import_module(group)


def _without_ours(text):
    """A traceback without our frames, each of which is a line and the source that follows it."""
    kept, is_ours = [], False
    for line in text.splitlines():
        if line.lstrip().startswith("File \""):
            is_ours = _OURS in line
        elif not line.startswith("    "):
            is_ours = False
        if not is_ours:
            kept.append(line)
    return _ADDRESS.sub("...", "\n".join(kept))


@contextlib.contextmanager
def _captured(texts):
    """Captures all that this process and its children write to both streams."""
    with tempfile.TemporaryFile() as file:
        sys.stdout.flush(), sys.stderr.flush()
        kept = os.dup(1), os.dup(2)
        os.dup2(file.fileno(), 1), os.dup2(file.fileno(), 2)
        try:
            yield
        finally:
            sys.stdout.flush(), sys.stderr.flush()
            for number, copy in zip((1, 2), kept):
                os.dup2(copy, number)
                os.close(copy)
            file.seek(0)
            texts.append(_without_ours(file.read().decode("utf-8", "replace")))


def _run_here(module, name):
    row, texts = {"name": name}, []
    with _captured(texts):
        try:
            row["result"] = repr(getattr(module, name)())
        except Exception:
            row["raised"] = _without_ours(traceback.format_exc())
    row["output"] = texts[0]
    return row


def _outcome(name, wait):
    """`wait`: with a file for its output, gives its exit code."""
    with tempfile.TemporaryFile() as file:
        try:
            code = wait(file)
        except subprocess.TimeoutExpired:
            code = f"not ended after {_LONGEST} s"
        file.seek(0)
        return {"name": name, "code": code, "output": _without_ours(file.read().decode("utf-8", "replace"))}


def _run_fresh(group, name):
    command = [sys.executable, os.path.abspath(__file__), group, "-", name]
    return _outcome(name, lambda file: subprocess.run(command, stdin=subprocess.DEVNULL, stdout=file, stderr=file,
                                                     timeout=_LONGEST).returncode)


class _ForkedChild(Exception):
    """Leaves the loop over the programs in the child of a fork, which then runs its own one and ends."""


def _run_forked(name):
    def wait(file):
        sys.stdout.flush(), sys.stderr.flush()
        child = os.fork()
        if child == 0:
            os.dup2(file.fileno(), 1), os.dup2(file.fileno(), 2)
            raise _ForkedChild(name)
        for _ in range(_LONGEST * 20):
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                return -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
            time.sleep(0.05)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return f"not ended after {_LONGEST} s"

    return _outcome(name, wait)


def _rows(group):
    text = (_FOLDER / f"{group}.py").read_text(encoding="utf-8")
    processes = re.search(r'^PROCESSES = "(\w+)"', text, re.MULTILINE)
    kind = processes.group(1) if processes else "one"
    module = None if kind == "fresh" else import_group(group)  # the import may be slow
    for name in re.findall(r"^def ([a-z]\w*)\(\)", text, re.MULTILINE):
        yield _run_fresh(group, name) if kind == "fresh" else _run_forked(name) if kind == "forked" else _run_here(module, name)


def _run_all(group, output):
    with open(output, "a", encoding="utf-8") as file:
        for row in _rows(group):
            file.write(json.dumps(row) + "\n")
            file.flush()


def main(group, output, name=None):
    if name is None:
        try:
            return _run_all(group, output)
        except _ForkedChild as forked:
            name = str(forked)
    print(getattr(import_group(group), name)())


if __name__ == "__main__":
    main(*sys.argv[1:])
