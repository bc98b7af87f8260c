"""Runs lines, each under a time limit of its own, and keeps what each found whatever becomes of the others."""
import dataclasses
import json
import os
import pathlib
import tempfile
import time
from collections.abc import Callable

from gpu_check import programs
from gpu_check.programs import Failure, NoTime, NotReached

PROVED, FAILED, NOT_REACHED = "proved", "failed", "not reached"


@dataclasses.dataclass(frozen=True)
class Line:
    name: str
    limit_s: float
    asks: str  # sentence on what it proves
    body: Callable


class Part:
    """A line while it runs: the checks under its name, and programs that end before its time is over."""

    def __init__(self, visit, line, limit_s):
        self.visit, self.line = visit, line
        self.began = time.monotonic()
        self.until = self.began + limit_s
        self.checks = []
        self.hung = False

    def say(self, state, name, message, /, **figures):
        self.checks.append({"name": name, "state": state, "message": message[:2000], "figures": figures})
        print(f"{state:<11} {self.line.name}: {name}: {message[:400]}", flush=True)

    def check(self, name, passed, message, /, **figures):
        self.say(PROVED if passed else FAILED, name, message, **figures)

    def attempt(self, name, body, *arguments):
        """A check that says itself what it found, or ends with a Failure, or cannot be made here."""
        try:
            return body(self, *arguments)
        except NotReached as reason:
            self.say(NOT_REACHED, name, str(reason))
        except Failure as failure:
            self.say(FAILED, name, str(failure))
        except Exception as error:  # an answer of another shape than expected
            self.say(FAILED, name, f"unexpected answer: {type(error).__name__}: {error}.")
        return None

    def left(self, limit_s=None):
        left = self.until - time.monotonic()
        return left if limit_s is None else min(left, limit_s)

    def run(self, words, limit_s=None, **options):
        """The programs.Ended of a program with exit code 0. Failure: it is missing, fails or takes too long."""
        if self.left() <= 0:
            raise NoTime(f"no time was left for {programs.short_name(words)}.")
        try:
            return programs.run(words, self.left(limit_s), self.visit.log, **options)
        except programs.Hung:
            self.hung = True
            raise

    def run_json(self, words, limit_s=None, **options):
        return self.parsed(self.run(words, limit_s, **options))

    @staticmethod
    def parsed(ended):
        try:
            return json.loads(ended.out)
        except ValueError as error:
            raise Failure(f"{ended.program} printed no JSON: {error}.") from None

    def fact(self, name, without):
        """Returns a fact of an earlier line. Raises NotReached if it is missing."""
        if name not in self.visit.facts:
            raise NotReached(without)
        return self.visit.facts[name]

    def program(self, *words):
        """A command line of the carried loaderscope."""
        return [self.visit.folder / "loaderscope", *words]

    def result(self):
        states = [check["state"] for check in self.checks]
        state = next((state for state in (FAILED, NOT_REACHED) if state in states), PROVED)
        reasons = [f"{check['name']}: {check['message']}" for check in self.checks if check["state"] == state]
        return {"name": self.line.name, "asks": self.line.asks, "state": state,
                "reason": reasons[0] if state != PROVED else "", "limit_s": self.line.limit_s,
                "took_s": round(time.monotonic() - self.began, 3), "checks": self.checks}


class Visit:
    """All lines, one after the other. `kept`, called after each, gets the results of all of them so far."""

    def __init__(self, folder, python, seconds, log, kept):
        self.folder, self.python, self.log, self.kept = folder, python, log, kept
        self.deadline = time.monotonic() + seconds
        self.facts = {}  # facts that later lines take from earlier ones
        self.results = []
        self.over = ""  # reason why no more lines run

    def run(self, lines, is_gpu_there):
        with tempfile.TemporaryDirectory(prefix="gpu-check.", ignore_cleanup_errors=True) as scratch:
            self.scratch = pathlib.Path(scratch)
            os.environ["XDG_CACHE_HOME"] = str(self.scratch / "cache")  # not the user's
            self.results = [not_reached(line, "gpu-check was stopped before it.") for line in lines]
            for number, line in enumerate(lines):
                try:
                    self.run_line(number, line, is_gpu_there)
                finally:
                    self.kept(self.results)

    def run_line(self, number, line, is_gpu_there):
        left = self.deadline - time.monotonic()
        if not self.over and left <= 0:
            self.over = "no time was left."
        if self.over:
            self.results[number] = not_reached(line, self.over)
            return
        self.log.title(line)
        part = Part(self, line, min(line.limit_s, left))
        try:
            part.attempt("ran", line.body)
            if not part.checks:
                part.say(FAILED, "ran", "nothing was checked.")
        except BaseException:
            part.say(NOT_REACHED, "the rest", "gpu-check was stopped.")
            raise
        finally:
            self.results[number] = part.result()
        if part.hung and not is_gpu_there():
            self.over = f"the GPU does not answer since the line '{line.name}'."


def not_reached(line, reason):
    return {"name": line.name, "asks": line.asks, "state": NOT_REACHED, "reason": reason,
            "limit_s": line.limit_s, "took_s": 0, "checks": []}
