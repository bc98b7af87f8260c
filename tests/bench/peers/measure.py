"""One fresh process of one engine."""

import contextlib
import dataclasses
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import threading
import time
from typing import Any, Dict, List, Tuple

from peers import process_tree
from peers.engines import NATIVE, Engine

_BETWEEN_LOOKS = 0.25  # seconds, at the memory
_LONGEST = 600  # seconds of a process


class Failed(Exception):
    """One sentence."""


@dataclasses.dataclass(frozen=True)
class Plan:
    loaderscope: pathlib.Path
    python: pathlib.Path
    options: Dict[str, Any]  # fields of peers.pipelines.Options
    warmup: int  # steps
    images: int  # least number after the warm-up


@dataclasses.dataclass(frozen=True)
class Run:
    images: int
    wall_s: float
    cpu_s: float
    first_batch_s: float
    peak_bytes: int


class _Peak:
    """The most memory of a process and what it started."""

    def __init__(self, pid: int) -> None:
        self.bytes = 0
        self._pid = pid
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look)

    def _look(self) -> None:
        while not self._over.wait(_BETWEEN_LOOKS):
            self.bytes = max(self.bytes, process_tree.memory_bytes(self._pid))

    def __enter__(self) -> "_Peak":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()


def find_reason(output: str) -> str:
    """The line of a failed program's output that says most."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if "Error" in line or line.lower().startswith("error:")]
    return (errors or lines or ["it failed without a word"])[-1][:200]


def _end_all(session: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(session, signal.SIGKILL)


def _run_for_answer(command: List[str]) -> Tuple[Dict[str, Any], int]:
    """The JSON that a program printed, and the most memory it had. It has a session of its own, of which nothing stays."""
    with tempfile.TemporaryFile("w+") as printed, tempfile.TemporaryFile("w+") as errors:
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=printed, stderr=errors,
                              start_new_session=True) as process, _Peak(process.pid) as peak:
            try:
                exit_code = process.wait(_LONGEST)  # workers may outlive the process
            except subprocess.TimeoutExpired:
                raise Failed(f"it was not done after {_LONGEST} s") from None
            finally:
                _end_all(process.pid)
        printed.seek(0)
        errors.seek(0)
        if exit_code != 0:
            raise Failed(find_reason(errors.read()))
        try:
            return json.loads(printed.read()), peak.bytes
        except ValueError as error:
            raise Failed(f"it printed no JSON: {error}") from error


def native(plan: Plan) -> Run:
    steps = -(-plan.images // plan.options["batch_size"])
    command = [str(plan.loaderscope), "run", "--data", plan.options["folder"], "--device", "null", "--executor", "threads",
               "--workers", str(plan.options["workers"]), "--batch-size", str(plan.options["batch_size"]),
               "--size", str(plan.options["size"]), "--seed", str(plan.options["seed"]),
               "--warmup", str(plan.warmup), "--steps", str(steps), "--json", "-"]
    result, peak = _run_for_answer(command)
    return Run(result["window"]["samples"], result["window"]["wall_s"], result["process"]["cpu_s"],
               result["first_batch"]["wall_s"], peak)


def peer(engine: Engine, plan: Plan, prepare: bool = False) -> Run:
    settings = {"options": plan.options, "warmup": plan.warmup, "images": plan.images, "prepare": prepare,
                "spawned": time.monotonic()}
    command = [str(plan.python), "-m", "peers.drive", engine.pipeline, json.dumps(settings)]
    result, peak = _run_for_answer(command)
    return Run(**result, peak_bytes=peak)


def run(engine: Engine, plan: Plan) -> Run:
    return native(plan) if engine.name == NATIVE else peer(engine, plan)


def try_out(engine: Engine, plan: Plan) -> None:
    """Makes what the engine needs, and brings its files into the page cache; fails where it does not work here."""
    short = dataclasses.replace(plan, warmup=1, images=plan.options["batch_size"])
    if engine.name == NATIVE:
        native(short)
    else:
        peer(engine, short, prepare=True)
