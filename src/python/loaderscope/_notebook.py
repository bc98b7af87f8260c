"""In notebooks: %load_ext loaderscope, results as pages, and the progress of a run.

    %load_ext loaderscope
    %loaderscope run --steps 200 -- python train.py        a program; its result is the output of the cell
    %%loaderscope                                          the cell, watched from outside while it runs in this kernel
    %%loaderscope run --steps 200                          the cell as a program of its own, measured from inside
"""

import html
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

from . import _program

FRAME_STYLE = {"width": "100%", "height": "640px", "box-sizing": "border-box", "border": "1px solid #8888", "resize": "vertical"}
PROGRESS = re.compile(r"loaderscope: (?:(\d+) %, )?((?:no|\d+) steps\b.*)")


def make_answer(result):
    """The answer of a saved result, in at most twelve lines."""
    return _reported(result)


def make_page(result):
    """The page of a result, as --html writes it."""
    return _reported(result, "--format", "html")


def _reported(result, *words):
    with tempfile.TemporaryDirectory(prefix="loaderscope-") as folder:
        saved = os.path.join(folder, "result.json")
        with open(saved, "w", encoding="utf-8") as file:
            json.dump(result, file)
        done = subprocess.run([_program.program(), "report", saved, *words], stdin=subprocess.DEVNULL, check=False,
                              capture_output=True, encoding="utf-8", errors="replace")
    if done.returncode != 0:
        raise _program.Error(done.stderr.strip() or f"report ended with code {done.returncode}")
    return done.stdout


def framed(page, answer):
    """The page in a frame of its own: its style and its script do not reach the notebook. A viewer without frames shows
    the answer."""
    style = ";".join(f"{name}:{value}" for name, value in FRAME_STYLE.items())
    return (f'<iframe srcdoc="{html.escape(page)}" sandbox="allow-scripts" title="loaderscope" style="{style}">'
            f"{html.escape(answer)}</iframe>")


def plain_text(result):
    """The answer; of a dict that the program rejects, the text of that dict."""
    try:
        return make_answer(result).rstrip("\n")
    except (_program.Error, OSError, ValueError, TypeError):
        return dict.__repr__(result)


def mimebundle(result):
    """The forms of a result that a notebook shows."""
    forms = {"text/plain": plain_text(result)}
    try:
        forms["text/html"] = framed(make_page(result), forms["text/plain"])
    except (_program.Error, OSError, ValueError, TypeError):
        pass  # the text is there
    return forms


def kernel_shell():
    """The shell of a notebook's kernel. None in a terminal and without IPython."""
    if "IPython" not in sys.modules:
        return None
    shell = sys.modules["IPython"].get_ipython()
    return shell if getattr(shell, "kernel", None) is not None else None


class Progress:
    """The progress of a run as one output of the cell, which each line replaces. Other lines are printed."""

    def __init__(self):
        self._shown, self._last = None, ""

    def take(self, line):
        """Returns False for a line that is no progress."""
        found = PROGRESS.fullmatch(line.rstrip("\r\n"))
        if found is None:
            return False
        percent, self._last = found.groups()
        bar = f'<progress max="100" value="{percent}"></progress> ' if percent else ""
        self._show(self._last, bar + html.escape(self._last))
        return True

    def finish(self):
        if self._shown is not None:
            steps = re.split("[,;]", self._last)[0]
            self._show(f"measured {steps}", f"measured {html.escape(steps)}")

    def _show(self, plain, rich):
        from IPython.display import display
        data = {"text/plain": plain, "text/html": f"<div>{rich}</div>"}
        if self._shown is None:
            self._shown = display(data, raw=True, display_id=True)
        else:
            self._shown.update(data, raw=True)


def load_magics(shell):
    def loaderscope(line, cell=None):
        words = shlex.split(line)
        if cell is None:
            return run_line(words)
        if words[:1] == ["run"]:
            return run_cell_as_program(words[1:], cell)
        return watch_cell(shell, words, cell)

    shell.register_magic_function(loaderscope, "line_cell", "loaderscope")


def run_line(words):
    """A command of the program. Returns the result of `run`; prints what the others print."""
    if words[:1] == ["run"]:
        return run_words(words[1:])
    code, text, raised = _program.print_output([_program.program(), *(words or ["--help"])], show=True)
    if raised is not None:
        raise raised
    if code not in (_program.FINE, _program.UNMET, _program.CANNOT_TELL):
        print(f"exit code {code}", file=sys.stderr)
    return None


def run_words(words):
    """`loaderscope run WORDS`. A command `python` is the Python of this kernel."""
    at = words.index("--") if "--" in words else len(words)
    command = words[at + 1:]
    if command[:1] == ["python"]:
        command[0] = sys.executable
    return _program.run_with_flags(words[:at], command, show=True)


def run_cell_as_program(flags, cell):
    """Modules next to the notebook can be imported."""
    with tempfile.TemporaryDirectory(prefix="loaderscope-") as folder:
        script = os.path.join(folder, "cell.py")
        with open(script, "w", encoding="utf-8") as file:
            file.write(cell)
        before = os.environ.get("PYTHONPATH")
        os.environ["PYTHONPATH"] = os.getcwd() + (os.pathsep + before if before else "")
        try:
            return run_words([*flags, "--", "python", script])
        finally:
            if before is None:
                del os.environ["PYTHONPATH"]
            else:
                os.environ["PYTHONPATH"] = before


def watch_cell(shell, words, cell):
    from ._watching import watching
    interval = "1s"
    if words:
        if len(words) != 2 or words[0] != "--interval":
            raise _program.Error(f"%%loaderscope {shlex.join(words)}: expected nothing, --interval TIME, or run FLAGS")
        interval = words[1]
    with watching(interval=interval, show=False) as watched:
        shell.run_cell(cell)
    return watched.result
