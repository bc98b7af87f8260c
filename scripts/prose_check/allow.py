"""The allow-list `scripts/prose.allow`: exceptions from the rules, one per line."""
from typing import NamedTuple

from prose_check import words

MAX_LINES = 60


class Exemption(NamedTuple):
    """Findings of a rule in a file are allowed if their sentence contains the phrase."""
    path: str
    rule: str
    phrase: str
    reason: str

    def allows(self, finding):
        return (self.path, self.rule) == (finding.path, finding.rule) and self.phrase in finding.text


class AllowList:
    """Keeps count of the exceptions that are in use."""

    def __init__(self, lines):
        self.exemptions = [Exemption(*words.split_row(line)) for line in lines]
        self.used = set()

    def filter(self, findings):
        """Returns the findings that no line allows."""
        return [finding for finding in findings if not self.covers(finding)]

    def covers(self, finding):
        matching = [exemption for exemption in self.exemptions if exemption.allows(finding)]
        self.used.update(matching)
        return bool(matching)

    def errors(self, paths):
        """Returns messages about a list that is too long, and about lines without a match in the files that were read."""
        messages = [f"scripts/prose.allow: \"{line.phrase}\" matches no {line.rule} in {line.path}: remove the line"
                    for line in self.exemptions if line not in self.used and line.path in paths]
        if len(self.exemptions) > MAX_LINES:
            messages.append(f"scripts/prose.allow: {len(self.exemptions)} lines: {MAX_LINES} are allowed")
        return messages


def read():
    return AllowList(words.read_list("prose.allow"))


def missing_files(allow, tracked):
    """Returns messages about lines for files that do not exist. A folder is no file."""
    return [f"scripts/prose.allow: {line.path} is not a tracked file: remove the line"
            for line in allow.exemptions if line.path not in tracked]
