"""The advice in a saved result and in the printed answer, as far as follow.py follows it."""

import itertools
from typing import Any, Dict, Optional

WAITS = 0.05  # share of the time; a program that waits less needs no advice


def waited(result: Dict[str, Any]) -> Optional[float]:
    """The share of the window in which the training waits; None if it is not known."""
    busy = (result.get("device") or {}).get("busy")
    return None if busy is None else 1 - busy


def fix_line(printed: str) -> str:
    """The change that the answer puts first, which may take several lines; empty without one."""
    lines = printed.splitlines()
    at = next((number for number, line in enumerate(lines) if line.startswith(("Fix:", "Try:"))), None)
    if at is None:
        return ""
    more = itertools.takewhile(lambda line: line.startswith("  "), lines[at + 1:])
    return " ".join([lines[at], *(line.strip() for line in more)])


def _settings(result: Dict[str, Any]) -> list:
    return [finding for finding in result["findings"] if finding["command"] and not finding["wrong_data"]
            and finding["mended_by"] == "reader"]


def fix(result: Dict[str, Any], printed: str) -> Optional[Dict[str, Any]]:
    """The setting, or all settings, in the answer's Fix; None if the Fix is none."""
    words = fix_line(printed).replace(",", " ").split()
    named = [finding for finding in _settings(result) if changes(finding)
             and all(f"{key}={value}" in words for key, value in changes(finding).items())]
    return max(named, key=lambda finding: len(changes(finding)), default=None)


def kind(result: Dict[str, Any], printed: str) -> str:
    """Returns the kind of the answer's Fix: none, setting or rewriting."""
    return "none" if not fix_line(printed) else "setting" if fix(result, printed) else "rewriting"


def setting(result: Dict[str, Any], printed: str) -> Optional[Dict[str, Any]]:
    """Returns the setting to follow: the Fix, or else the first other setting with figures, or else the first setting."""
    settings = _settings(result)
    with_figures = [finding for finding in settings if finding["predicted"]]
    return fix(result, printed) or next(iter(with_figures + settings), None)


def changes(finding: Dict[str, Any]) -> Dict[str, str]:
    """Settings for the program. What the model supposes besides them, such as compute.speed=0.5, is left out."""
    return dict(change.split("=", 1) for change in finding["changes"] if ".speed=" not in change)


def why_no_figures(result: Dict[str, Any]) -> str:
    withheld = result["verdict"]["withheld_reason"]
    if withheld:
        return withheld
    error = result.get("fit", {}).get("rate_error")
    if error is not None and abs(error) > 0.1:
        return f"the model misses the run by {100 * error:+.0f} %"
    unpredicted = next((note for note in result["notes"] if note.startswith("no predictions")), None)
    if unpredicted or not _settings(result):
        return unpredicted or "no setting helps"
    return "the advice brings work that was not measured"
