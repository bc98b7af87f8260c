"""The program, and one call of it."""

import io
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

FINE, UNMET, CANNOT_TELL = 0, 2, 3  # exit codes that come with a result
INTERRUPTED = 130, 143
ENGINES_IN_PYTHON = "dali", "webdataset"  # with no loader given, too
SAID = "loaderscope: "  # begins a message besides the answer
HINT = "hint: "  # begins what can be done about it
PROGRESS_EVERY = "LOADERSCOPE_PROGRESS_EVERY"  # time between two lines of progress


class Error(RuntimeError):
    """The program could not answer, or its job failed; its sentence says why. `text`: all that was printed; `result`: what was
    measured until a job failed, else None."""

    text = ""
    result = None

    def _render_traceback_(self):
        """A notebook shows the sentence alone."""
        return [SAID + str(self)]


class Result(dict):
    """Contents of a --json file. `exit_code`: 0, 2 if a requirement is not met, 3 if it cannot be decided. `text`: the
    printed output. A notebook shows the page of the result.
    """

    exit_code = FINE
    text = ""
    shown_cell = None  # number of the cell whose output has this result already

    def _ipython_display_(self):
        """IPython asks for this first. A cell that has shown the answer does not show it a second time."""
        if self.shown_cell is None or self.shown_cell != _cell_number():
            raise NotImplementedError  # IPython then shows the other forms

    def _repr_mimebundle_(self, include=None, exclude=None):
        from ._notebook import mimebundle
        return mimebundle(self)

    def _repr_html_(self):
        return self._repr_mimebundle_().get("text/html")

    def _repr_pretty_(self, printer, cycle):
        """IPython asks for this text first, as it has a printer for every dict."""
        from ._notebook import plain_text
        printer.text(plain_text(self))


def program():
    """The path of the program: the one that this package carries, else the first of PATH."""
    carried = pathlib.Path(__file__).parent / "program" / "bin" / "loaderscope"
    if os.access(carried, os.X_OK):
        return str(carried)
    # Not the script of this package, which would ask here again.
    for folder in os.get_exec_path():
        found = shutil.which("loaderscope", path=folder)
        if found and _is_binary(found):
            return found
    raise Error(f"no program in {carried.parent} or on PATH: install the package's wheel, or put loaderscope on PATH")


def _is_binary(path):
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def make_flags(settings):
    """num_workers=4, cost=["read=8ms", "decode=2ms"], try_=True, in_order=False as flags."""
    flags = []
    for name, value in settings.items():
        flag = "--" + name.rstrip("_").replace("_", "-")
        if value is None:
            continue
        if value is True:
            flags.append(flag)
        elif value is False:
            flags.append("--no-" + flag[2:])
        elif isinstance(value, (list, tuple)):
            flags += [f"{flag}={one}" for one in value]
        else:
            flags.append(f"{flag}={value}")
    return flags


def run(command=(), *, show=True, **settings):
    """Runs `loaderscope run SETTINGS -- COMMAND` and returns a Result. Without a command the native loader runs.

    Settings are the flags of `loaderscope help run` with _ for -, and one after try_. `python` runs a `loader`; its
    default is this Python. `show` prints the output as it comes.

    Raises Error if there is no result, or only the result of a failed job. An interrupt ends the run, and is raised
    again after the answer was printed. The exception's `result` is the answer.
    """
    if settings.get("loader") or settings.get("engine") in ENGINES_IN_PYTHON:
        settings.setdefault("python", _this_python())
    command = [command] if isinstance(command, str) else [os.fspath(word) for word in command]
    return run_with_flags(make_flags(settings), command, show)


def run_with_flags(flags, command, show):
    """run() with the flags of the program."""
    with tempfile.TemporaryDirectory(prefix="loaderscope-") as folder:
        saved = os.path.join(folder, "result.json")
        progress = _notebook_progress() if show else None
        # A notebook shows the page instead of the printed answer.
        words = [program(), "run", *flags, f"--also-json={saved}", "--no-answer" if progress else "--no-progress"]
        if command:
            words += ["--", *command]
        code, text, raised = print_output(words, show, progress)
        if raised is not None:
            raised.result = _saved_result(saved, code, text)
            if show:
                _show_answer(raised.result, progress)
            raise raised
        result = read_result(saved, code, text, shown=show)
        if show:
            _show_answer(result, progress)
        return result


def _show_answer(result, progress):
    """In a notebook, adds the answer to the output of the cell, and to `text`. Elsewhere it was printed."""
    if result is None:
        return
    if progress:
        from ._notebook import mimebundle, plain_text
        from IPython.display import display
        result.text += plain_text(result) + "\n"
        display(mimebundle(result), raw=True)
    result.shown_cell = _cell_number()


def _cell_number():
    """Returns the number of the cell or the line of IPython that is running, and None without IPython."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return getattr(shell, "execution_count", None)


def read_result(saved, code, text, shown=False):
    result = _saved_result(saved, code, text)
    if result is None or code not in (FINE, UNMET, CANNOT_TELL, *INTERRUPTED):
        error = Error(_sentence(text, code, shown, result))
        error.text, error.result = text, result
        raise error
    return result


def _saved_result(saved, code, text):
    try:
        with open(saved, encoding="utf-8") as file:
            result = Result(json.load(file))
    except (OSError, ValueError):
        return None
    result.exit_code, result.text = code, text
    return result


def _notebook_progress():
    """Returns the display of progress in a notebook, and None elsewhere."""
    if "IPython" not in sys.modules:
        return None
    from ._notebook import Progress, kernel_shell
    return Progress() if kernel_shell() is not None else None


def print_output(words, show, progress=None):
    """Returns the exit code and the output of a command, which is also printed line by line: a notebook has no
    terminal. A bare \\r ends a line, too, and is kept, so that a progress bar remains one line.

    Also returns the exception raised in the meantime, or None. An exception asks the command to end, and the function
    waits for the end. Each further exception asks again. Lines that `progress` takes are not part of the output.
    """
    lines, raised, code = [], None, None
    environment = {**os.environ, PROGRESS_EVERY: "1s"} if progress else None
    # A session of its own: Ctrl-C is a signal to all of a group, and a second one kills.
    process = subprocess.Popen([*_lifeline(), *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, start_new_session=True, env=environment)
    with io.TextIOWrapper(process.stdout, encoding="utf-8", errors="replace", newline="") as output:
        while code is None:
            try:
                for line in output:
                    if progress and progress.take(line):
                        continue
                    lines.append(line)
                    if show:
                        print(line, end="", flush=True)
                code = process.wait()
                if progress:
                    progress.finish()
            except BaseException as error:
                raised = raised or error
                show = show and isinstance(error, KeyboardInterrupt)  # other exceptions come from printing
                process.send_signal(signal.SIGINT)
    return code, "".join(lines), raised


def _this_python():
    """Returns None if the current program embeds Python, as a server may."""
    return sys.executable if os.path.basename(sys.executable or "").startswith("python") else None


def _lifeline():
    """Words before a command that let it be asked for its end if this process is killed, where no group reaches it."""
    python = _this_python()
    return [python, "-I", "-S", "-c", _ASKED_TO_END_WITH_ITS_PARENT, str(os.getpid())] if python else []


_ASKED_TO_END_WITH_ITS_PARENT = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
try:
    import ctypes
    ctypes.CDLL(None).prctl(1, signal.SIGTERM, 0, 0, 0)  # PR_SET_PDEATHSIG
except (ImportError, AttributeError, OSError):
    pass
if os.getppid() == int(sys.argv[1]):
    os.execv(sys.argv[2], sys.argv[2:])
"""


def _sentence(text, code, shown, result):
    """Returns the program's last message, and the last line of the measured command if it was not printed."""
    said = [line for line in text.splitlines() if line.startswith(SAID)]
    if not said:
        return f"the program ended with code {code} and no result"
    sentence = said[-1][len(SAID):]
    before_answer = text.rpartition(result["verdict"]["sentence"][:40])[0] or text if result else text
    others = [line for line in before_answer.splitlines() if line.strip() and not line.startswith((SAID, HINT))]
    return sentence if shown or not others or not sentence.endswith("above") else f"{sentence}: {others[-1].strip()}"
