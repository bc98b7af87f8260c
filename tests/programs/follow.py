"""The command line of scripts/follow-advice: takes the advice given to training programs, and compares what it gains."""

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

import advice
import epochs
import prepare
import table
from program import Failed, Program

_ROOT = pathlib.Path(__file__).resolve().parents[2]
_HERE = pathlib.Path(__file__).resolve().parent
_JUDGED = "\n## Why"  # the rest of the report is written by hand and is kept
_SETS = {"published": ("programs.toml", "advice.md"), "kinds": ("kinds.toml", "advice-kinds.md")}


def _flags() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/follow-advice", description=__doc__)
    parser.add_argument("--set", choices=_SETS, default="published",
                        help="Programs as others published them, or ours of many kinds. Default: published.")
    parser.add_argument("--only", help="Programs, with commas between them. Default: all that train on the CPU.")
    parser.add_argument("--gpu", action="store_true", help="Default of --only: all that train on a GPU.")
    parser.add_argument("--programs", type=pathlib.Path, default=_ROOT / "build/follow-advice/programs",
                        help="Clones, as OWNER/NAME; what is missing is cloned from GitHub.")
    parser.add_argument("--work", type=pathlib.Path, default=_ROOT / "build/follow-advice", help="Data and results.")
    parser.add_argument("--python", type=pathlib.Path, required=True, help="One with PyTorch and torchvision.")
    parser.add_argument("--complete", action="store_true", help="--python has all packages; no environment is made.")
    parser.add_argument("--loaderscope", type=pathlib.Path, default=_ROOT / "build/release/loaderscope")
    parser.add_argument("--duration", default="10s", help="Of each measured window, in seconds. Default: 10s.")
    parser.add_argument("--pairs", type=int, default=2, help="Alternating runs before and after. Default: 2.")
    parser.add_argument("--answers", action="store_true", help="Only what the answer says: the advice is not followed.")
    parser.add_argument("--try", dest="try_it", action="store_true", help="Also what 'run --try' says of it.")
    parser.add_argument("--report", action="store_true", help="Runs nothing: writes the report of what has run.")
    parser.add_argument("--output", type=pathlib.Path, help="The report. Default: reports/advice.md, of kinds "
                        "reports/advice-kinds.md; with --gpu, --only or --answers in the --work folder.")
    flags = parser.parse_args()
    for name in ("programs", "work", "loaderscope", "python"):
        setattr(flags, name, pathlib.Path(os.path.abspath(getattr(flags, name))))
    return flags


def _choose(flags: argparse.Namespace, rows: List[Dict[str, Any]]) -> None:
    is_partial = flags.gpu or flags.only or flags.answers
    flags.output = flags.output or (flags.work if is_partial else _ROOT / "reports") / _SETS[flags.set][1]
    flags.of_kind = [row["name"] for row in rows if row.get("gpu", False) == flags.gpu]
    flags.only = flags.only.split(",") if flags.only else flags.of_kind
    unknown = set(flags.only) - {row["name"] for row in rows}
    if unknown:
        sys.exit(f"follow-advice: no program {', '.join(sorted(unknown))} in {_SETS[flags.set][0]}")


def _rate(result: Dict[str, Any]) -> float:
    rate = result["throughput"]["samples_per_s"]["mean"]
    if rate is None:
        raise Failed("loaderscope does not know how many samples a batch has")
    return float(rate)


def _cores_used(result: Dict[str, Any]) -> float:
    return result["process"]["cpu_s"] / result["window"]["wall_s"]


def _answer(program: Program, row: Dict[str, Any]) -> Dict[str, Any]:
    """One measured run: what it says goes into the row."""
    result = program.run("before-1", {})
    if result["verdict"]["withheld_reason"]:  # the answer asks for a longer run
        result = program.run("before-1", {}, times=2)
    printed = (program.results / f"{row['name']}-before-1.txt").read_text(encoding="utf-8", errors="replace")
    row["said"], row["fix"] = result["verdict"]["sentence"], advice.fix_line(printed)
    row["fit_error"] = result.get("fit", {}).get("rate_error")
    row["kind"], row["waited"] = advice.kind(result, printed), advice.waited(result)
    row["steps"], row["rates_measured"] = result["window"]["steps"], [_rate(result)]
    row["cores_used"], row["window_s"] = _cores_used(result), result["window"]["wall_s"]
    taken = advice.setting(result, printed)
    if taken is None or not taken["predicted"]:
        row["no_figures"] = advice.why_no_figures(result)
    if taken is None:
        return result
    row["advice"], row["changes"] = taken["id"], taken["changes"]
    if taken["predicted"]:
        row["promised"] = taken["predicted"]["samples_per_s"]
        row["ratio_promised"] = row["promised"] / taken["predicted"]["base"]["samples_per_s"]
    return result


def _follow_alone(program: Program, row: Dict[str, Any], pairs: int) -> None:
    """Rates by the program's own clock, without loaderscope."""
    changes = advice.changes(row) if "changes" in row else None
    row["rates_before"], after = [], []
    for pair in range(1, pairs + 1):
        row["rates_before"].append(program.rate_alone(f"alone-before-{pair}", {}))
        if changes is None:
            break
        after.append(program.rate_alone(f"alone-after-{pair}", changes))
    if after:
        row["rates_after"] = after


def _follow_measured(program: Program, row: Dict[str, Any], first: Dict[str, Any], pairs: int) -> None:
    """Rates of loaderscope's windows."""
    row["rates_before"] = row["rates_measured"]
    if "changes" not in row:
        return
    before, after = [first], []
    for pair in range(1, pairs + 1):
        if pair > 1:
            before.append(program.run(f"before-{pair}", {}))
        after.append(program.run(f"after-{pair}", advice.changes(row)))
    row["rates_before"], row["rates_after"] = [_rate(run) for run in before], [_rate(run) for run in after]
    epoch_rates = [epochs.rate_of_whole_ones(run) for run in after]
    if epochs.is_within_one(first) and None not in epoch_rates:
        row["ratio_of_epochs"] = statistics.mean(epoch_rates) / statistics.mean(row["rates_before"])


def follow(program: Program, flags: argparse.Namespace) -> Dict[str, Any]:
    row: Dict[str, Any] = {"name": program.row["name"]}
    first = _answer(program, row)
    if flags.answers:
        row["rates_before"] = row["rates_measured"]
        return row
    if program.row.get("own_clock"):
        _follow_alone(program, row, flags.pairs)
    else:
        _follow_measured(program, row, first, flags.pairs)
    if "rates_after" in row:
        row["ratio_got"] = statistics.mean(row["rates_after"]) / statistics.mean(row["rates_before"])
        if flags.try_it:
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
    command = "scripts/follow-advice" + " --gpu" * flags.gpu + f" --set {flags.set}" * (flags.set != "published")
    return {"date": datetime.date.today().isoformat(), "loaderscope": version.split(",")[0].replace("(", "").strip(),
            "gpu": _gpu(), "cpu": model, "cores": len(os.sched_getaffinity(0)), "kernel": platform.release(),
            "command": command, "set": flags.set}


def _listed(file_name: str) -> Dict[str, Any]:
    with open(_HERE / file_name, "rb") as file:
        listed = tomllib.load(file)
    rows = {row["name"]: row for row in listed["program"]}
    defaults = listed.get("defaults", {})
    listed["program"] = [{**defaults, **rows.get(row.get("like"), {}), **row} for row in listed["program"]]
    return listed


def _run_all(listed: Dict[str, Any], flags: argparse.Namespace) -> None:
    chosen = [row for row in listed["program"] if row["name"] in flags.only]
    if not flags.complete:
        packages = {package for row in chosen for package in row.get("packages", [])}
        flags.python = prepare.python_with(flags.python, packages, flags.work / "python")
    for row in chosen:
        try:
            answer = follow(Program(row, listed.get("repositories", {}), flags), flags)
        except Failed as error:
            answer = {"name": row["name"], "failed": str(error)}
        saved = flags.work / "results" / f"{row['name']}.json"
        saved.parent.mkdir(parents=True, exist_ok=True)
        saved.write_text(json.dumps(answer, indent=1) + "\n", encoding="utf-8")
        print(table.line(answer), file=sys.stderr, flush=True)


def main() -> None:
    flags = _flags()
    listed = _listed(_SETS[flags.set][0])
    _choose(flags, listed["program"])
    if not flags.report:
        _run_all(listed, flags)
    rows = [json.loads(file.read_text(encoding="utf-8")) for name in flags.of_kind
            for file in [flags.work / "results" / f"{name}.json"] if file.exists()]
    result = {"schema": "loaderscope.advice/1", **_facts(flags), "programs": rows}
    flags.output.with_suffix(".json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    judged = flags.output.read_text(encoding="utf-8") if flags.output.exists() else ""
    text = table.markdown(result) + (judged[judged.find(_JUDGED):] if _JUDGED in judged else "")
    flags.output.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
