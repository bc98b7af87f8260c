"""The tests that need a GPU."""
import re

from gpu_check.programs import Failure, NotReached

EACH_S = 25


def gpu_tests(part, pattern=""):
    """Runs the tests whose names match a filter of GoogleTest. All tests if the filter is empty."""
    program = part.visit.folder / "loaderscope_gpu_tests"
    chosen = [f"--gtest_filter={pattern}"] if pattern else []
    names = list_tests(part.run([program, "--gtest_list_tests", *chosen], 20).out)
    if not names:
        raise Failure("loaderscope_gpu_tests has no such test." if pattern else "loaderscope_gpu_tests has no test.")
    cupti = sorted(part.visit.folder.glob("libcupti.so.*"))  # libcupti, so that the test of CUPTI is not skipped
    environment = {"LOADERSCOPE_CUPTI": str(cupti[-1].resolve())} if cupti else {}
    for name in names:
        part.attempt(name, gpu_test, program, name, environment)


def list_tests(out):
    """Suites are at the margin, and their tests are indented."""
    names, suite = [], ""
    for line in out.splitlines():
        word = line.split("#")[0].strip()
        if line.startswith(" ") and word:
            names.append(suite + word)
        elif word.endswith("."):
            suite = word
    return names


def gpu_test(part, program, name, environment):
    ended = part.run([program, f"--gtest_filter={name}"], EACH_S, expected=(0, 1), environment=environment)
    if "[  SKIPPED ]" in ended.out:
        raise NotReached(f"skipped: {output_text(ended.out)}")
    if ended.code != 0:
        raise Failure(output_text(ended.out) or f"exit code 1: {ended.err.strip()[-200:]}")
    if "[  PASSED  ] 1 test" not in ended.out:
        raise Failure("it did not run.")
    figures = {key: float(value) for key, value in re.findall(r"^figure (\w+)=(\S+)$", ended.out, re.M)}
    text = ", ".join(f"{key} = {value:g}" for key, value in figures.items())
    part.check(name, True, f"passed in {ended.took_s:.1f} s{': ' + text if text else ''}.", **figures)


def output_text(out):
    """Returns the output between the test's own lines."""
    inside = out.partition("[ RUN      ]")[2].splitlines()[1:]
    said = [line.strip() for line in inside if line.strip() and not line.startswith("[")]
    return " ".join(said)[:400]
