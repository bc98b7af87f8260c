"""The Python with all the loaders, which scripts/python-env makes."""

import pathlib
import subprocess
from typing import Dict, Tuple

_SCRIPT = pathlib.Path(__file__).resolve().parents[3] / "scripts" / "python-env"


def make() -> Tuple[pathlib.Path, Dict[str, str]]:
    """The path of its Python, and what could not be installed, with the reason. That is tried again each time."""
    made = subprocess.run([_SCRIPT, "peers"], stdout=subprocess.PIPE, text=True, check=True)
    python = pathlib.Path(made.stdout.strip())
    missing = (python.parent.parent / "missing").iterdir()
    return python, {reason.name: reason.read_text(encoding="utf-8").strip() for reason in missing}
