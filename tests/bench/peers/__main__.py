"""The command line of scripts/peers."""

import argparse
import datetime
import json
import os
import pathlib
import platform
import subprocess
import sys
from typing import Any, Dict, List

from peers import environment, measure, report
from peers.engines import ENGINES, NATIVE, Engine

_ROOT = pathlib.Path(__file__).resolve().parents[3]
_MADE = _ROOT / "build" / "peers"


def _flags() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/peers", description="Measures native against other data loaders.")
    parser.add_argument("--rounds", type=int, default=7, help="Each measures every engine once. Default: 7.")
    parser.add_argument("--images", type=int, default=2000, help="Measured per engine and round. Default: 2000.")
    parser.add_argument("--count", type=int, default=2000, help="Images of the data set. Default: 2000.")
    parser.add_argument("--workers", type=int, default=2, help="Threads or processes, and cores. Default: 2.")
    parser.add_argument("--engines", default=",".join(engine.name for engine in ENGINES),
                        help="With commas between them; native is always measured. Default: all.")
    parser.add_argument("--python", type=pathlib.Path, help="A Python that has the loaders. Default: one is made.")
    parser.add_argument("--loaderscope", type=pathlib.Path, default=_ROOT / "build/release/loaderscope",
                        help="Default: build/release/loaderscope.")
    parser.add_argument("--output", type=pathlib.Path, default=_ROOT / "reports/peers.md",
                        help="The JSON goes beside it. Default: reports/peers.md.")
    flags = parser.parse_args()
    unknown = set(flags.engines.split(",")) - {engine.name for engine in ENGINES}
    if unknown or min(flags.rounds, flags.images, flags.count, flags.workers) < 1:
        parser.error(f"no engine {', '.join(sorted(unknown))}" if unknown else "a number is below 1")
    return flags


def _data(loaderscope: pathlib.Path, count: int) -> Dict[str, Any]:
    folder = _MADE / f"photos-{count}"
    if not folder.exists():
        unfinished = folder.with_suffix(".unfinished")
        subprocess.run([loaderscope, "data", "make", unfinished, "--count", str(count)], check=True)
        unfinished.rename(folder)
    files = [path for path in folder.rglob("*.jpg")]
    return {"folder": str(folder), "images": len(files), "bytes": sum(path.stat().st_size for path in files)}


def _bound_to(cores: int) -> int:
    """Binds this process and its children to `cores` cores, or to all if there are fewer. Returns their number."""
    chosen = sorted(os.sched_getaffinity(0))[:cores]
    os.sched_setaffinity(0, chosen)
    return len(chosen)


def _versions(python: pathlib.Path) -> Dict[str, str]:
    code = "import importlib.metadata as m, json; print(json.dumps({d.name.lower(): d.version for d in m.distributions()}))"
    found = json.loads(subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout)
    wanted = {package for engine in ENGINES for package in engine.packages}
    return {package: found[package] for package in sorted(wanted) if package in found}


def _machine(cores: int, loads: List[float]) -> Dict[str, Any]:
    lines = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    model = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown CPU")
    return {"cpu": model, "cores": cores, "logical_cpus": os.cpu_count(), "kernel": platform.release(),
            "os": platform.freedesktop_os_release()["PRETTY_NAME"], "load_least": min(loads), "load_most": max(loads)}


class _Rounds:
    """All runs so far; an engine that fails is left out from then on, with the reason."""

    def __init__(self, plan: measure.Plan) -> None:
        self._plan = plan
        self.runs: Dict[str, List[measure.Run]] = {}
        self.failed: Dict[str, str] = {}
        self.loads: List[float] = []

    def _attempt(self, engine: Engine, what: Any) -> None:
        try:
            what()
        except measure.Failed as error:
            if engine.name == NATIVE:
                raise
            self.failed[engine.name] = str(error)
            print(f"peers: {engine.name}: {error}", file=sys.stderr)

    def try_out(self, engines: List[Engine]) -> None:
        for engine in engines:
            self._attempt(engine, lambda engine=engine: measure.try_out(engine, self._plan))

    def add(self, engines: List[Engine], number: int) -> None:
        self.loads.append(os.getloadavg()[0])
        first = number % len(engines)  # so that none always runs after the same other one
        for engine in engines[first:] + engines[:first]:
            if engine.name not in self.failed:
                self._attempt(engine, lambda engine=engine: self._add(engine, number))

    def _add(self, engine: Engine, number: int) -> None:
        run = measure.run(engine, self._plan)
        self.runs.setdefault(engine.name, []).append(run)
        print(f"peers: round {number + 1}: {engine.name}: {run.images / run.cpu_s:,.0f} images per CPU second, "
              f"{run.images / run.wall_s:,.0f} images/s", file=sys.stderr)


def _command(flags: argparse.Namespace) -> str:
    """The command that repeats the comparison on another machine, without the paths of this machine."""
    given = {"rounds": flags.rounds, "images": flags.images, "count": flags.count, "workers": flags.workers,
             "engines": flags.engines}
    return "scripts/peers " + " ".join(f"--{name} {value}" for name, value in given.items())


def _facts(flags: argparse.Namespace, plan: measure.Plan, data: Dict[str, Any]) -> Dict[str, Any]:
    version = subprocess.run([plan.loaderscope, "--version"], capture_output=True, text=True, check=True).stdout
    return {
        "schema": "loaderscope.peers/1", "date": datetime.date.today().isoformat(),
        "command": _command(flags),
        "loaderscope": version.split(",")[0].replace("(", "").strip(), "python": platform.python_version(),
        "versions": _versions(plan.python), "data": data, "warmup": plan.warmup, "images": flags.images,
        "options": {name: plan.options[name] for name in ("workers", "batch_size", "size", "seed")},
    }


def _write(result: Dict[str, Any], output: pathlib.Path) -> None:
    output.with_suffix(".json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    output.write_text(report.markdown(result), encoding="utf-8")


def main() -> None:
    flags = _flags()
    python, not_installed = (flags.python, {}) if flags.python else environment.make()
    for package, reason in not_installed.items():
        print(f"peers: {package} could not be installed: {reason}", file=sys.stderr)
    cores = _bound_to(flags.workers)
    data = _data(flags.loaderscope, flags.count)
    options = {"folder": data.pop("folder"), "made": str(_MADE / "made"), "workers": flags.workers, "batch_size": 64,
               "size": 224, "seed": 0}
    plan = measure.Plan(flags.loaderscope, python, options, warmup=5, images=flags.images)
    wanted = {NATIVE, *flags.engines.split(",")}
    rounds = _Rounds(plan)
    missing = {engine.name: f"{package} could not be installed: {not_installed[package]}" for engine in ENGINES
               for package in engine.packages if engine.name in wanted and package in not_installed}
    rounds.failed.update(missing)
    engines = [engine for engine in ENGINES if engine.name in wanted and engine.name not in missing]
    rounds.try_out(engines)
    facts = _facts(flags, plan, data)
    for number in range(flags.rounds):
        rounds.add(engines, number)
        result = {**facts, "machine": _machine(cores, rounds.loads), "rounds": number + 1,
                  "engines": report.summary(rounds.runs, rounds.failed, cores)}
        _write(result, flags.output)  # after each, so that one that is interrupted leaves what there is
    print(report.markdown(result))


if __name__ == "__main__":
    main()
