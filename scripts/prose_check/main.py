"""The command line of `scripts/prose`."""
import argparse
import multiprocessing
import os
import pathlib
import sys

from prose_check import allow, baseline, commit, read, self_test

USAGE_EXIT_CODE = 64
MIN_FILES_FOR_POOL = 200


class Parser(argparse.ArgumentParser):
    def error(self, message):
        print(f"prose: {message}\nhint: scripts/prose --help", file=sys.stderr)
        sys.exit(USAGE_EXIT_CODE)


def parse_arguments(description, arguments):
    parser = Parser(prog="scripts/prose", description=description,
                    formatter_class=argparse.RawDescriptionHelpFormatter, usage=argparse.SUPPRESS)
    parser.add_argument("files", nargs="*", metavar="FILE")
    modes = parser.add_mutually_exclusive_group()
    modes.add_argument("--commit", metavar="FILE")
    modes.add_argument("--self-test", action="store_true")
    modes.add_argument("--lower", action="store_true")
    modes.add_argument("--rebase", action="store_true")
    options = parser.parse_args(arguments)
    if options.files and (options.commit or options.self_test or options.lower or options.rebase):
        parser.error("FILE and another mode exclude each other")
    return options, parser


def repository_path(name, parser):
    """Returns the path of a file below the root of the repository. Exits with 64 if it is not a file there."""
    path = pathlib.Path(name).resolve()
    if not path.is_file() or not path.is_relative_to(read.ROOT):
        parser.error(f"{name}: is not a file of this repository")
    return path.relative_to(read.ROOT).as_posix()


def find_all(paths):
    """Returns the findings of many files, which several processes read."""
    if len(paths) < MIN_FILES_FOR_POOL:
        return [finding for path in paths for finding in read.file_findings(path)]
    with multiprocessing.Pool(min(os.cpu_count() or 1, 8)) as pool:
        return [finding for found in pool.imap(read.file_findings, paths, chunksize=32) for finding in found]


def report(findings, messages):
    for finding in findings:
        print(finding)
    for message in messages:
        print(message)
    return 1 if findings or messages else 0


def new_findings(findings, known, is_enforced):
    """Returns the findings that the baseline does not have."""
    risen = baseline.rises(baseline.count(findings), known)
    return [finding for finding in findings
            if (is_enforced if baseline.is_clean(finding.path) else (finding.rule, finding.path) in risen)]


def check(paths, all_files):
    exemptions, known = allow.read(), baseline.read()
    findings = exemptions.filter(find_all(paths))
    found = baseline.count(findings)
    messages = [f"{path}: {rule}: {found.get((rule, path), 0)} findings, {known[rule, path]} in the baseline: run "
                "scripts/prose --lower"
                for rule, path in sorted(baseline.falls(found, known, None if all_files else set(paths)))]
    messages += exemptions.errors(set(paths))
    if all_files:
        messages += allow.missing_files(exemptions, set(paths))
        messages += [f"scripts/prose.baseline: {path} never has a baseline: fix the file"
                     for path in sorted({path for _, path in known if baseline.is_clean(path)})]
    return report(new_findings(findings, known, baseline.CLEAN_IS_ENFORCED or not all_files), messages)


def change_baseline(paths, may_move):
    """Lowers the baseline. With `may_move`, numbers may rise in one file if the total of the rule does not.

    A baseline without rows is the one of the day when the checker lands: `may_move` then accepts all numbers.
    """
    known = baseline.read()
    findings = allow.read().filter(find_all(paths))
    found = baseline.count(findings)
    if may_move:
        if known and (messages := baseline.risen_totals(found, known)):
            return report([], messages)
    elif risen := baseline.rises(found, known):
        return report([finding for finding in findings if (finding.rule, finding.path) in risen], [])
    baseline.write(found)
    return 0


def check_commit(name, parser):
    try:
        message = pathlib.Path(name).read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        parser.error(f"{name}: {error.strerror}")
    return report([], [f"{name}:1: {rule}: {text}" for rule, text in commit.message_faults(message)])


def run(description, arguments):
    options, parser = parse_arguments(description, arguments)
    try:
        if options.self_test:
            return report([], self_test.failures())
        if options.commit:
            return check_commit(options.commit, parser)
        if options.files:
            return check([repository_path(name, parser) for name in options.files], all_files=False)
        if options.lower or options.rebase:
            return change_baseline(read.project_files(), may_move=options.rebase)
        return check(read.project_files(), all_files=True)
    except read.NoRepository as error:
        print(f"prose: {error}", file=sys.stderr)
        return 1
