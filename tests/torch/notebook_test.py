"""The cells of reports/notebook.ipynb, as a reader runs them: notebook_test.py PROGRAM."""

import contextlib
import io
import json
import os
import pathlib
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[2]
SKIPPED = 77


def main(program):
    try:
        import torch  # noqa: F401
    except ImportError:
        print("no torch in this Python: see scripts/python-env")
        return SKIPPED
    notebook = json.loads((TOP / "reports" / "notebook.ipynb").read_text())
    cells = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    names = {"__name__": "notebook"}
    with tempfile.TemporaryDirectory(prefix="loaderscope-notebook-") as folder:
        os.symlink(program, os.path.join(folder, "loaderscope"))
        os.environ["PATH"] = folder + os.pathsep + os.environ["PATH"]
        sys.path.insert(0, str(TOP / "src" / "python"))
        os.chdir(folder)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            for cell in cells:
                exec(compile(cell, "cell", "exec"), names)
        os.chdir("/")
    before, after = names["before"], names["after"]
    assert "no-workers" in [finding["id"] for finding in before["findings"]], before["findings"]
    gain = names["rate"](after) / names["rate"](before)
    assert gain > 1.2, printed.getvalue()
    assert names["watched"].error or "verdict" in names["watched"].result, names["watched"].error
    print(f"mended: {gain:.1f} times the rate")
    return 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1])))
