"""The baseline `scripts/prose.baseline`: the number of findings per rule and file. Numbers only fall."""
import collections
import re

from prose_check import words

PATH = words.SCRIPTS / "prose.baseline"
HEADER = "# Findings per file and rule, which only fall. `scripts/prose --lower` writes this file.\n"
# Files that never have a baseline.
CLEAN = re.compile(r"(?:README|CHANGELOG|CONTRIBUTING)\.md|src/manual/[^/]*\.md")
CLEAN_IS_ENFORCED = True


def read():
    """Returns the numbers by rule and path."""
    counts = {}
    for line in words.read_list(PATH.name):
        path, *numbers = line.split(" ")
        for number in numbers:
            rule, value = number.split("=")
            counts[rule, path] = int(value)
    return counts


def write(counts):
    rows = collections.defaultdict(list)
    for rule, path in sorted(counts, key=lambda key: (key[1], int(key[0][1:]))):
        rows[path].append(f"{rule}={counts[rule, path]}")
    lines = [f"{path} {' '.join(numbers)}\n" for path, numbers in rows.items()]
    PATH.write_text(HEADER + "".join(lines), encoding="utf-8")


def is_clean(path):
    return CLEAN.fullmatch(path) is not None


def count(findings):
    return collections.Counter((finding.rule, finding.path) for finding in findings if not is_clean(finding.path))


def totals(counts):
    """Returns the number of findings per rule."""
    result = collections.Counter()
    for (rule, _), number in counts.items():
        result[rule] += number
    return result


def rises(found, known):
    """Returns the rules and paths that have more findings than the baseline."""
    return {key for key, number in found.items() if number > known.get(key, 0)}


def falls(found, known, paths):
    """Returns the rules and paths with fewer findings, for the files that were read or no longer exist."""
    return {key for key, number in known.items() if found.get(key, 0) < number and (paths is None or key[1] in paths)}


def risen_totals(found, known):
    """Returns messages about each rule with more findings in the whole tree, and about the files with more."""
    before, now = totals(known), totals(found)
    messages = []
    for rule in sorted(rule for rule in now if now[rule] > before[rule]):
        messages.append(f"{rule}: {now[rule]} findings, {before[rule]} in the baseline")
        messages += [f"{path}: {rule}: {found[rule, path]} findings, {known.get((rule, path), 0)} in the baseline"
                     for risen, path in sorted(rises(found, known)) if risen == rule]
    return messages
