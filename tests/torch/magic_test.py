"""Magics, pages and progress in the kernel of a notebook: magic_test.py PROGRAM."""

import os
import pathlib
import re
import sys
import tempfile

SKIPPED = 77
try:
    import nbformat
    import nbclient
    import ipykernel  # noqa: F401
except ImportError as error:
    print(f"{error}: scripts/python-env notebooks makes a Python that has it")
    sys.exit(SKIPPED)

FACE = pathlib.Path(__file__).resolve().parents[2] / "src" / "python"
SIM = "--device sim --cost decode=2ms:sleep --compute 4ms --num-workers 1 --batch-size 8"
CELLS = {
    "load": f"import sys; sys.path.insert(0, {str(FACE)!r})\n%load_ext loaderscope",
    "line": f"%loaderscope run {SIM} --steps 20",
    "dict": "result = _\nresult['verdict']['bound_by'], isinstance(result, dict), result.exit_code",
    "twice": f"loaderscope_result = %loaderscope run {SIM} --steps 20\nloaderscope_result",
    "again": "result",
    "progress": f"import os\nos.environ['LOADERSCOPE_SUMMARY'] = 'full'\nlong = %loaderscope run {SIM} --duration 3s",
    "watch": "%%loaderscope --interval 100ms\nimport time\ntime.sleep(2)\nseen = 5",
    "namespace": "print(seen)",
    "program": "%%loaderscope run --steps 20\nimport helper\nprint('a program', helper.NAME)",
    "other": "%loaderscope explain capacity",
    "unknown": "%loaderscope nonsense",
    "broken": "changed = dict.copy(result)\ntype(result)(schema='mine')",
}


def run_cells(program):
    with tempfile.TemporaryDirectory(prefix="loaderscope-notebook-") as folder:
        os.symlink(program, os.path.join(folder, "loaderscope"))
        pathlib.Path(folder, "helper.py").write_text("NAME = 'with a helper'\n")
        os.environ.update(PATH=folder + os.pathsep + os.environ["PATH"], LOADERSCOPE_SUMMARY="compact",
                          IPYTHONDIR=folder, JUPYTER_RUNTIME_DIR=folder)
        os.chdir(folder)
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in CELLS.values()])
        nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3", allow_errors=True).execute()
        os.chdir("/")
    return {name: cell.outputs for name, cell in zip(CELLS, notebook.cells)}


def select_data(outputs, kind):
    return [one["data"] for one in outputs if one["output_type"] == kind]


def join_text(outputs):
    return "".join(one["text"] for one in outputs if one["output_type"] == "stream")


def main(program):
    outputs = run_cells(program)
    page, = [one for one in select_data(outputs["line"], "display_data") if "<iframe" in str(one)]
    answer = page["text/plain"].splitlines()[0]
    assert not select_data(outputs["line"], "execute_result") and answer not in join_text(outputs["line"]), outputs["line"]
    assert page["text/plain"].splitlines()[1].startswith("Fix: "), page["text/plain"]
    assert len(page["text/plain"].splitlines()) <= 12, page["text/plain"]
    frame = page["text/html"]
    assert frame.startswith('<iframe srcdoc="&lt;!doctype html&gt;'), frame[:80]
    assert 'sandbox="allow-scripts"' in frame and frame.count("<") == 2, "the page leaves its frame"
    assert select_data(outputs["dict"], "execute_result")[0]["text/plain"] == "('decode', True, 0)", outputs["dict"]

    shown = outputs["twice"]
    pages = [one for kind in ("display_data", "execute_result") for one in select_data(shown, kind) if "<iframe" in str(one)]
    assert len(pages) == 1 and "Fix: " not in join_text(shown), shown
    assert "<iframe" in select_data(outputs["again"], "execute_result")[0]["text/html"], outputs["again"]

    progress, long_page = select_data(outputs["progress"], "display_data")
    assert re.fullmatch(r"measured \d+ steps", progress["text/plain"]), progress
    assert "<iframe" in long_page["text/html"] and "Fix: " not in join_text(outputs["progress"]), outputs["progress"]
    assert "loaderscope: " not in join_text(outputs["progress"]), outputs["progress"]

    watched, = select_data(outputs["watch"], "execute_result")
    assert "<iframe" in watched["text/html"], watched["text/plain"]
    assert join_text(outputs["namespace"]) == "5\n", outputs["namespace"]

    assert "a program with a helper\n" in join_text(outputs["program"]), outputs["program"]
    error, = [one for one in outputs["program"] if one["output_type"] == "error"]
    assert error["traceback"] == ["loaderscope: " + error["evalue"]], error
    assert "without taking a batch" in error["evalue"], error
    assert join_text(outputs["other"]).startswith("capacity (why): "), outputs["other"]
    assert "exit code 64" in join_text(outputs["unknown"]), outputs["unknown"]
    assert select_data(outputs["broken"], "execute_result") == [{"text/plain": "{'schema': 'mine'}"}], outputs["broken"]
    print("shown:", page["text/plain"].splitlines()[0])
    return 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1])))
