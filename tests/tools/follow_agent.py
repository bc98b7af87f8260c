"""An agent without a model: fixes the fault of reports/notebook.ipynb by following what the tools return. Call it as
follow_agent.py PROGRAM [PYTHON], where PYTHON has torch. Exit code 77: it has not."""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from mcp_client import Client

TOP = pathlib.Path(__file__).resolve().parents[2]
SKIPPED = 77
STEPS = 100


def notebook_program():
    """Returns the program that the first cell writes."""
    notebook = json.loads((TOP / "reports" / "notebook.ipynb").read_text())
    first = next("".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code")
    return re.search(r"write_text\('''\n(.*?)'''\)", first, re.DOTALL).group(1)


def apply_plan(plan, folder):
    """Edits the program as the tool `apply` says: by its diff, or at the places to edit by hand."""
    if plan["can_write"]:
        subprocess.run(["patch", "-p0" if plan["diff"].startswith("--- /") else "-p1"], input=plan["diff"], text=True,
                       cwd=folder, check=True)
        return
    file = pathlib.Path(plan["file"])
    lines = file.read_text().splitlines(keepends=True)
    assert plan["edits_by_hand"], plan["reason"]
    for edit in sorted(plan["edits_by_hand"], key=lambda edit: -edit["column"]):
        line, begin, end = lines[edit["line"] - 1], edit["column"] - 1, edit["end_column"] - 1
        assert line[begin:end] == edit["now"], (line, edit)
        lines[edit["line"] - 1] = line[:begin] + edit["then"] + line[end:]
    file.write_text("".join(lines))


def follow(client, command, folder):
    """Returns the rates before and after the change."""
    tools = {tool["name"] for tool in client.request("tools/list")["result"]["tools"]}
    assert {"run", "apply", "compare"} <= tools, tools
    before = client.call("run", command=command, steps=STEPS)
    print(before["content"][0]["text"])
    before = before["structuredContent"]
    assert before["fixes"], before
    plan = client.call("apply", result=before["result_file"])
    print(plan["content"][0]["text"])
    apply_plan(plan["structuredContent"], folder)
    after = client.call("run", command=command, steps=STEPS)["structuredContent"]
    compared = client.call("compare", before=before["result_file"], after=after["result_file"])
    print(compared["content"][0]["text"])
    assert compared["structuredContent"]["verdict"] != "worse", compared
    return before["samples_per_s"], after["samples_per_s"]


def main(program, python):
    if subprocess.run([python, "-c", "import torch, numpy"], capture_output=True).returncode != 0:
        print("no torch in this Python: see scripts/python-env")
        return SKIPPED
    with tempfile.TemporaryDirectory(prefix="loaderscope-agent-") as folder:
        train = pathlib.Path(folder, "train.py")
        train.write_text(notebook_program())
        old = train.read_text()
        with Client(program, folder) as client:
            client.initialize()
            before, after = follow(client, [python, "train.py", "0"], folder)
        changed = [line for line in train.read_text().splitlines() if line not in old.splitlines()]
        print("changed:", *changed, sep="\n")
        assert len(changed) == 1 and "num_workers=" in changed[0], changed
    assert after > 1.2 * before, (before, after)
    print(f"fixed: {before:.0f} -> {after:.0f} samples/s")
    return 0


if __name__ == "__main__":
    sys.exit(main(str(pathlib.Path(sys.argv[1]).resolve()), sys.argv[2] if len(sys.argv) > 2 else sys.executable))
