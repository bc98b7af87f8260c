"""A training program that follow.py runs: with loaderscope, or alone by its own clock."""

import argparse
import json
import os
import pathlib
import re
import subprocess
from typing import Any, Dict, List, Optional, Union

import prepare

_HERE = pathlib.Path(__file__).resolve().parent
_LONGEST_RUN = 180  # seconds


class Failed(Exception):
    """A program that did not run, or was not measured."""


def with_setting(arguments: List[str], word: str, value: str) -> List[str]:
    """The program's arguments with one of its own settings changed."""
    if word.startswith("+"):  # a flag without a value
        forms = (f"--{word[1:]}", f"--no-{word[1:]}")
        return [argument for argument in arguments if argument not in forms] + [forms[value == "false"]]
    if word.endswith("="):
        return [argument for argument in arguments if not argument.startswith(word)] + [word + value]
    if word not in arguments:
        return arguments + [word, value]
    at = arguments.index(word) + 1
    return arguments[:at] + [value] + arguments[at + 1:]


def with_changes(row: Dict[str, Any], arguments: List[str], words: List[str], changes: Dict[str, str]) -> List[List[str]]:
    """The arguments of the program and of loaderscope: what the program has no word for loaderscope replaces."""
    for key, value in changes.items():
        own = row.get("flags", {}).get(key)
        if own:
            arguments = with_setting(arguments, own, value)
        else:
            words = with_setting(words, f"+{key}" if value in ("true", "false") else f"--{key}", value)
    return [arguments, words]


class Program:
    """One row of programs.toml or kinds.toml, ready to be run."""

    def __init__(self, row: Dict[str, Any], commits: Dict[str, str], flags: argparse.Namespace) -> None:
        self.row, self._flags = row, flags
        self._seconds = float(flags.duration.removesuffix("s"))
        self.results = flags.work / "results"
        data = flags.work / "data"
        if "repository" in row:
            repository = row["repository"]
            self._script = prepare.clone(repository, commits[repository], flags.programs) / row["script"]
        else:
            self._script = _HERE / "drivers" / row.get("driver", f"{row['name']}.py")
        self._here = self._script.parent if row.get("here") else flags.work / "runs" / row["name"] / "its" / "own"
        self._here.mkdir(parents=True, exist_ok=True)
        for folder in row.get("folders", []):
            (self._here / folder).mkdir(parents=True, exist_ok=True)
        prepare.link(row, self._here, data, flags.loaderscope)
        self._arguments = [str(prepare.data(word[1:-1], data, flags.loaderscope)) if word.startswith("{") else word
                           for word in row.get("arguments", [])]
        # Predictions of other days would be part of the answers.
        self._environment = {**os.environ, "XDG_CACHE_HOME": str(flags.work / "cache"), **row.get("environment", {})}
        if "path" in row:
            self._environment["PYTHONPATH"] = str(flags.programs / row["repository"] / row["path"])
        self.results.mkdir(parents=True, exist_ok=True)
        if row.get("own_clock"):
            self._arguments = [str(data / row["name"]), *self._arguments]
            output = self.results / f"{row['name']}-prepared.txt"
            code = self._ended([flags.python, self._script, *self._arguments, "--prepare"], output)
            if code:
                raise self._failed(code, output)

    def _ended(self, command: List[Union[str, pathlib.Path]], output: pathlib.Path) -> int:
        """The exit code; what the program printed is in `output`."""
        with open(output, "w", encoding="utf-8") as file:
            try:
                return subprocess.run(command, cwd=self._here, env=self._environment, stdout=file,
                                      stderr=subprocess.STDOUT, timeout=_LONGEST_RUN, check=False).returncode
            except subprocess.TimeoutExpired:
                raise Failed(f"not ended after {_LONGEST_RUN} s") from None

    def _failed(self, code: int, output: pathlib.Path) -> Failed:
        said = output.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        own = [text for text in said if not text.startswith("loaderscope: ")]
        return Failed(f"exit code {code}: {own[-1] if own else 'no word'}"[:200])

    def run(self, kind: str, changes: Dict[str, str], more: Optional[List[str]] = None, times: float = 1) -> Dict[str, Any]:
        """A measured run with these settings, in the program's own words if it has them. Its window is --duration, that many
        times."""
        arguments, words = with_changes(self.row, self._arguments, list(self.row.get("loaderscope", [])), changes)
        result = self.results / f"{self.row['name']}-{kind}.json"
        result.unlink(missing_ok=True)
        command = [self._flags.loaderscope, "run", "--duration", f"{times * self._seconds:g}s", *words, *(more or []),
                   "--json", result, "--", self._flags.python, self._script, *arguments]
        code = self._ended(command, result.with_suffix(".txt"))
        if not result.exists():
            raise self._failed(code, result.with_suffix(".txt"))
        return json.loads(result.read_text(encoding="utf-8"))

    def rate_alone(self, kind: str, changes: Dict[str, str]) -> float:
        """Samples per second by the program's own clock, without loaderscope."""
        arguments, words = with_changes(self.row, self._arguments, [], changes)
        if words:
            raise Failed(f"the program has no flag for {' '.join(words)}")
        output = self.results / f"{self.row['name']}-{kind}.txt"
        code = self._ended([self._flags.python, self._script, *arguments, "--seconds", f"{self._seconds:g}"], output)
        rate = re.search(r"^rate ([\d.]+) samples/s$", output.read_text(encoding="utf-8", errors="replace"), re.MULTILINE)
        if not rate:
            raise self._failed(code, output)
        return float(rate[1])
