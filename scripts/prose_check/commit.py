"""Rule P12: the subject of a commit message. P3 applies to the subject too."""
import re

from prose_check import read, words
from prose_check.rules import ALWAYS_REJECTED, REJECTED_WITHOUT_COMMA

OTHER_AREAS = frozenset("tests scripts manual readme ci build reports".split())
SUBJECT = re.compile(r"([a-z0-9_]+): (\S+)( .*)?$")
MAX_SUBJECT = 72
# Subjects that git writes.
GENERATED = re.compile(r"Merge (?:branch|tag|remote-tracking|commit)|Revert \"")
NOT_IMPERATIVE = re.compile(r".*(?:[^e]ed|[^r]ing|[^su]s)$")
IMPERATIVE = frozenset("alias bring embed exceed feed need proceed seed shred speed string succeed wing".split())
NO_VERBS = ALWAYS_REJECTED | REJECTED_WITHOUT_COMMA | {"a", "an", "the", "this", "these", "all", "every", "one", "no"}


def areas(paths):
    """Returns the folders of src/ and the other areas."""
    folders = {path.split("/")[1] for path in paths if path.startswith("src/") and path.count("/") > 1}
    return folders | OTHER_AREAS


def is_imperative(word):
    word = word.lower().strip(",.;:")
    if word in IMPERATIVE or word in words.base_verbs():
        return True
    return word not in words.third_person_verbs() and word not in NO_VERBS and not NOT_IMPERATIVE.match(word)


def subject(message):
    """Returns the first line that is neither empty nor a comment of git."""
    lines = (line.rstrip() for line in message.split("\n"))
    return next((line for line in lines if line and not line.startswith("#")), "")


def subject_faults(line, known_areas):
    """Yields the rule and the message of each fault of a subject."""
    if GENERATED.match(line):
        return
    if len(line) > MAX_SUBJECT:
        yield "P12", f"subject of {len(line)} characters: {MAX_SUBJECT} are allowed"
    match = SUBJECT.match(line)
    if not match:
        yield "P12", 'subject is not of the form "area: imperative"'
    elif match[1] not in known_areas:
        yield "P12", f'area "{match[1]}": use a folder of src/ or one of {", ".join(sorted(OTHER_AREAS))}'
    elif not is_imperative(match[2]):
        yield "P12", f'"{match[2]}" is not in the imperative'
    for _, phrase, instead in words.banned_words().find(line):
        yield "P3", f'"{phrase}": write {instead}'


def message_faults(message):
    return list(subject_faults(subject(message), areas(read.project_files())))
