"""Programs with a time limit, whose output is kept, also when they hang."""
import contextlib
import dataclasses
import os
import pathlib
import shlex
import signal
import subprocess
import tempfile
import time

KEPT_MOST = 512 << 10  # bytes of one program's output in the log, half of them the last ones
KEPT_OF_FINE = 48 << 10  # limit for a program that ended well
LOG_MOST = 12 << 20
SHARE = 20  # divisor of the room left that a program may fill, so that the last one has some, too
READ_MOST = 64 << 20  # bytes of an answer
DIES_WITHIN_S = 5


class Failure(Exception):
    """A check fails; the text is one sentence."""


class Hung(Failure):
    """A program took too long."""


class NotReached(Exception):
    """A check cannot be made here; the text is one sentence."""


class NoTime(NotReached):
    """The line's time is over."""


@dataclasses.dataclass
class Ended:
    program: str
    code: int
    out: str
    err: str
    took_s: float


class Log:
    """The output of all programs, a file that stays under LOG_MOST bytes."""

    def __init__(self, path):
        self.file = open(path, "wb")
        self.size = 0

    def write(self, text):
        data = text if isinstance(text, bytes) else text.encode()
        if self.size + len(data) <= LOG_MOST:
            self.file.write(data)
            self.file.flush()
            self.size += len(data)

    def title(self, line):
        self.write(f"\n=== {line.name}: {line.asks} (at most {line.limit_s} s)\n")

    def program(self, words, files, end, most):
        self.write(f"\n$ {shlex.join(map(str, words))}\n{end}\n")
        for name, file in files.items():
            most = min(most, (LOG_MOST - self.size) // SHARE)
            self.write(f"--- {name}\n".encode() + read_ends(file, most) + b"\n")


def short_name(words):
    return pathlib.Path(words[0]).name


def read_ends(file, most):
    """Returns the contents of a file, or the first and last bytes of a long one."""
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    if size <= most:
        return file.read()
    first = file.read(most // 2)
    file.seek(size - most // 2)
    return first + f"\n... {size - most} bytes are left out ...\n".encode() + file.read()


def read_text(file):
    file.seek(0)
    return file.read(READ_MOST).decode(errors="replace")


@contextlib.contextmanager
def started(words, files, environment=None):
    """A running program with a process group of its own, which has ended afterwards unless the kernel holds it."""
    try:
        process = subprocess.Popen([str(word) for word in words], stdin=subprocess.DEVNULL,
                                   stdout=files["output"], stderr=files["errors"],
                                   start_new_session=True, env={**os.environ, **(environment or {})})
    except OSError as error:
        raise Failure(f"{words[0]} cannot be started: {error.strerror}.") from None
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(DIES_WITHIN_S)


@contextlib.contextmanager
def output_files():
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        yield {"output": out, "errors": err}


def run(words, limit_s, log=None, expected=(0,), environment=None, interrupt_after_s=None):
    """Runs a program to its end. Hung: it took longer than limit_s; Failure: its exit code is none of `expected`.
    With interrupt_after_s it gets the signal of Ctrl-C then. What it printed goes into the log, if one is given."""
    began = time.monotonic()
    with output_files() as files:
        end, most = "was stopped with gpu-check", KEPT_MOST
        try:
            with started(words, files, environment) as process:
                code = wait(process, words, limit_s, interrupt_after_s)
            end = f"exit code {code} after {time.monotonic() - began:.2f} s"
            most = KEPT_OF_FINE if code in expected else KEPT_MOST
        except Failure as failure:
            end = str(failure)
            raise
        finally:
            if log is not None:
                log.program(words, files, end, most)
        ended = Ended(short_name(words), code, read_text(files["output"]), read_text(files["errors"]),
                      time.monotonic() - began)
    if code not in expected:
        raise Failure(f"{short_name(words)} ended with exit code {code}: {last_words(ended)}")
    return ended


def wait(process, words, limit_s, interrupt_after_s):
    try:
        if interrupt_after_s is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(min(interrupt_after_s, limit_s))
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
                limit_s -= interrupt_after_s
        return process.wait(limit_s)
    except subprocess.TimeoutExpired:
        raise Hung(f"{short_name(words)} {shlex.join(map(str, words[1:]))}: took too long "
                   f"({limit_s:.0f} s); it stood in {waiting_calls(process.pid)}.") from None


def last_words(ended):
    lines = (ended.err.strip() or ended.out.strip()).splitlines()
    errors = [line for line in lines if line.startswith("loaderscope: ")]
    return (errors or lines or ["no message"])[-1]


def add_waiting_call(task, group, calls):
    with contextlib.suppress(OSError, IndexError):
        fields = (task / "stat").read_text().rpartition(")")[2].split()
        if int(fields[2]) == group:
            call = (task / "wchan").read_text() or "0"
            place = f"state {fields[0]}" if call == "0" else call
            calls[place] = calls.get(place, 0) + 1


def waiting_calls(group):
    """Counts the system calls in which the threads of a process group wait."""
    calls = {}
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # the process has ended
            for task in (process / "task").iterdir():
                add_waiting_call(task, group, calls)
    return ", ".join(f"{place} x {number}" for place, number in sorted(calls.items())) or "nothing"
