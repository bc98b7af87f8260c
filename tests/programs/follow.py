"""The command line of scripts/follow-advice: takes the advice given to programs of others, and compares what it gains."""

import argparse
import datetime
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tomllib
from typing import Any, Dict, List, Optional

import epochs
import prepare
import table

_ROOT = pathlib.Path(__file__).resolve().parents[2]
_HERE = pathlib.Path(__file__).resolve().parent
_LONGEST_RUN = 180  # seconds
_JUDGED = "\n## Why"  # what stands from here on in the report is written by hand, and stays


class Failed(Exception):
    """A program that did not run, or was not measured."""


def _flags(rows: List[Dict[str, Any]]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/follow-advice", description=__doc__)
    parser.add_argument("--only", help="Programs, with commas between them. Default: all that train on the CPU.")
    parser.add_argument("--gpu", action="store_true", help="Default of --only: all that train on a GPU.")
    parser.add_argument("--programs", type=pathlib.Path, default=_ROOT / "build/follow-advice/programs",
                        help="Clones, as OWNER/NAME; what is missing is cloned from GitHub.")
    parser.add_argument("--work", type=pathlib.Path, default=_ROOT / "build/follow-advice", help="Data and results.")
    parser.add_argument("--python", type=pathlib.Path, required=True, help="One with PyTorch and torchvision.")
    parser.add_argument("--complete", action="store_true", help="--python has all packages; no environment is made.")
    parser.add_argument("--loaderscope", type=pathlib.Path, default=_ROOT / "build/release/loaderscope")
    parser.add_argument("--duration", default="10s", help="Of each measured window. Default: 10s.")
    parser.add_argument("--pairs", type=int, default=2, help="Runs before and after, in turns. Default: 2.")
    parser.add_argument("--try", dest="try_it", action="store_true", help="Also what 'run --try' says of it.")
    parser.add_argument("--report", action="store_true", help="Runs nothing: writes the report of what has run.")
    parser.add_argument("--output", type=pathlib.Path,
                        help="The report. Default: reports/advice.md; with --gpu advice.md in the --work folder.")
    flags = parser.parse_args()
    for name in ("programs", "work", "loaderscope", "python"):
        setattr(flags, name, pathlib.Path(os.path.abspath(getattr(flags, name))))
    flags.of_kind = [row["name"] for row in rows if row.get("gpu", False) == flags.gpu]
    flags.only = flags.only.split(",") if flags.only else flags.of_kind
    flags.output = flags.output or (flags.work if flags.gpu else _ROOT / "reports") / "advice.md"
    unknown = set(flags.only) - {row["name"] for row in rows}
    if unknown:
        parser.error(f"no program {', '.join(sorted(unknown))}")
    return flags


def _with_setting(arguments: List[str], word: str, value: str) -> List[str]:
    """The program's arguments with one of its own settings changed."""
    if word.endswith("="):
        return [argument for argument in arguments if not argument.startswith(word)] + [word + value]
    if word not in arguments:
        return arguments + [word, value]
    at = arguments.index(word) + 1
    return arguments[:at] + [value] + arguments[at + 1:]


class Program:
    """One row of programs.toml, ready to be run."""

    def __init__(self, row: Dict[str, Any], commits: Dict[str, str], flags: argparse.Namespace) -> None:
        self.row, self._flags = row, flags
        self.results = flags.work / "results"
        data = flags.work / "data"
        if "driver" in row:
            self._script = _HERE / "drivers" / row["driver"]
        else:
            repository = row["repository"]
            self._script = prepare.clone(repository, commits[repository], flags.programs) / row["script"]
        self._here = self._script.parent if row.get("here") else flags.work / "runs" / row["name"] / "its" / "own"
        self._here.mkdir(parents=True, exist_ok=True)
        for folder in row.get("folders", []):
            (self._here / folder).mkdir(parents=True, exist_ok=True)
        prepare.link(row, self._here, data, flags.loaderscope)
        self._arguments = [str(prepare.data(word[1:-1], data, flags.loaderscope)) if word.startswith("{") else word
                           for word in row.get("arguments", [])]
        self.results.mkdir(parents=True, exist_ok=True)

    def run(self, kind: str, changes: Dict[str, str], more: Optional[List[str]] = None) -> Dict[str, Any]:
        """A measured run with these settings, in the program's own words where it has them."""
        arguments, words = self._arguments, list(self.row.get("loaderscope", []))
        for key, value in changes.items():
            own = self.row.get("flags", {}).get(key)
            if own:
                arguments = _with_setting(arguments, own, value)
            else:
                words = words + [f"--{key}" if value == "true" else f"--no-{key}"] if value in ("true", "false") \
                    else _with_setting(words, f"--{key}", value)
        result = self.results / f"{self.row['name']}-{kind}.json"
        result.unlink(missing_ok=True)
        command = [self._flags.loaderscope, "run", "--duration", self._flags.duration, *words, *(more or []),
                   "--json", result, "--", self._flags.python, self._script, *arguments]
        environment = {**os.environ, **self.row.get("environment", {})}
        if "path" in self.row:
            root = self._flags.programs / self.row["repository"] / self.row["path"]
            environment["PYTHONPATH"] = str(root)
        with open(result.with_suffix(".txt"), "w", encoding="utf-8") as output:
            try:
                code = subprocess.run(command, cwd=self._here, env=environment, stdout=output,
                                      stderr=subprocess.STDOUT, timeout=_LONGEST_RUN, check=False).returncode
            except subprocess.TimeoutExpired:
                raise Failed(f"not ended after {_LONGEST_RUN} s") from None
        if not result.exists():
            said = result.with_suffix(".txt").read_text(encoding="utf-8", errors="replace").strip().splitlines()
            own = [text for text in said if not text.startswith("loaderscope: ")]
            raise Failed(f"exit code {code}: {own[-1] if own else 'no word'}"[:200])
        return json.loads(result.read_text(encoding="utf-8"))


def _rate(result: Dict[str, Any]) -> float:
    return result["throughput"]["samples_per_s"]["mean"]


def _advice(result: Dict[str, Any]) -> Optional[Dict[str, Any]]:
    """The first finding that is a setting; one with figures before one without."""
    settings = [finding for finding in result["findings"] if finding["command"] and not finding["wrong_data"]
                and finding["mended_by"] == "reader"]
    return next((finding for finding in settings if finding["predicted"]), settings[0] if settings else None)


def _why_no_figures(result: Dict[str, Any]) -> str:
    withheld = result["verdict"]["withheld_reason"]
    if withheld:
        return withheld
    error = result.get("fit", {}).get("rate_error")
    if error is not None and abs(error) > 0.1:
        return f"the model misses the run by {100 * error:+.0f} %"
    unpredicted = next((note for note in result["notes"] if note.startswith("no predictions")), None)
    if unpredicted or not _advice(result):
        return unpredicted or "nothing that a setting mends"
    return "the advice brings work that was not measured"


def _cores_used(result: Dict[str, Any]) -> float:
    return result["process"]["cpu_s"] / result["window"]["wall_s"]


def follow(program: Program, pairs: int, try_it: bool) -> Dict[str, Any]:
    row: Dict[str, Any] = {"name": program.row["name"]}
    before = [program.run("before-1", {})]
    row["said"], row["fit_error"] = before[0]["verdict"]["sentence"], before[0].get("fit", {}).get("rate_error")
    row["steps"], row["rates_before"] = before[0]["window"]["steps"], [_rate(before[0])]
    row["cores_used"], row["window_s"] = _cores_used(before[0]), before[0]["window"]["wall_s"]
    advice = _advice(before[0])
    if advice is None or not advice["predicted"]:
        row["no_figures"] = _why_no_figures(before[0])
    if advice is None:
        return row
    row["advice"], row["changes"] = advice["id"], advice["changes"]
    if advice["predicted"]:
        row["promised"] = advice["predicted"]["samples_per_s"]
        row["ratio_promised"] = row["promised"] / advice["predicted"]["base"]["samples_per_s"]
    # What the model supposes beside the settings, such as compute.speed=0.5, is not for the program to change.
    changes = dict(change.split("=", 1) for change in advice["changes"] if ".speed=" not in change)
    after = []
    for pair in range(1, pairs + 1):
        if pair > 1:
            before.append(program.run(f"before-{pair}", {}))
        after.append(program.run(f"after-{pair}", changes))
    row["rates_before"], row["rates_after"] = [_rate(run) for run in before], [_rate(run) for run in after]
    row["ratio_got"] = statistics.mean(row["rates_after"]) / statistics.mean(row["rates_before"])
    of_epochs = [epochs.rate_of_whole_ones(run) for run in after]
    if epochs.is_within_one(before[0]) and None not in of_epochs:
        row["ratio_of_epochs"] = statistics.mean(of_epochs) / statistics.mean(row["rates_before"])
    if try_it:
        row["try"] = program.run("try", {}, ["--try"])["proof"]
    return row


def _gpu() -> Optional[str]:
    try:
        return subprocess.run(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"], capture_output=True, text=True,
                              check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def _facts(flags: argparse.Namespace) -> Dict[str, Any]:
    version = subprocess.run([flags.loaderscope, "--version"], capture_output=True, text=True, check=True).stdout
    lines = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    model = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown CPU")
    return {"date": datetime.date.today().isoformat(), "loaderscope": version.split(",")[0].replace("(", "").strip(),
            "gpu": _gpu(), "cpu": model, "cores": len(os.sched_getaffinity(0)), "kernel": platform.release(),
            "command": "scripts/follow-advice" + " --gpu" * flags.gpu}


def _listed() -> Dict[str, Any]:
    with open(_HERE / "programs.toml", "rb") as file:
        listed = tomllib.load(file)
    rows = {row["name"]: row for row in listed["program"]}
    listed["program"] = [{**rows.get(row.get("like"), {}), **row} for row in listed["program"]]
    return listed


def main() -> None:
    listed = _listed()
    flags = _flags(listed["program"])
    if not flags.complete:
        packages = {package for row in listed["program"] for package in row.get("packages", [])}
        flags.python = prepare.python_with(flags.python, packages, flags.work / "python")
    for row in listed["program"]:
        if flags.report or row["name"] not in flags.only:
            continue
        try:
            answer = follow(Program(row, listed["repositories"], flags), flags.pairs, flags.try_it)
        except Failed as error:
            answer = {"name": row["name"], "failed": str(error)}
        saved = flags.work / "results" / f"{row['name']}.json"
        saved.parent.mkdir(parents=True, exist_ok=True)
        saved.write_text(json.dumps(answer, indent=1) + "\n", encoding="utf-8")
        print(table.line(answer), file=sys.stderr)
    rows = [json.loads(file.read_text(encoding="utf-8")) for name in flags.of_kind
            for file in [flags.work / "results" / f"{name}.json"] if file.exists()]
    result = {"schema": "loaderscope.advice/1", **_facts(flags), "programs": rows}
    flags.output.with_suffix(".json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    judged = flags.output.read_text(encoding="utf-8") if flags.output.exists() else ""
    text = table.markdown(result) + judged[judged.find(_JUDGED):] if _JUDGED in judged else table.markdown(result)
    flags.output.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
