"""The word lists of the rules, from the data files in `scripts/`."""
import functools
import pathlib
import re
from typing import NamedTuple

LETTERS = re.compile(r"[a-z]+")
SPACES = re.compile(r"\s+")
SCRIPTS = pathlib.Path(__file__).resolve().parent.parent


def read_list(name):
    """Returns the lines of a data file without empty lines and comments."""
    lines = (SCRIPTS / name).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line.strip() and not line.startswith("#")]


def split_row(line):
    return [cell.strip() for cell in line.split("|")]


def phrases(cell):
    return [phrase.strip() for phrase in cell.split(",") if phrase.strip()]


def phrase_pattern(words):
    """Matches whole words. A hyphen joins words, and a word before a bracket is the name of a function."""
    alternatives = "|".join(re.escape(word).replace(r"\ ", r"\s+") for word in sorted(words, key=len, reverse=True))
    return re.compile(rf"(?<![\w-])(?:{alternatives})(?![\w(-])", re.IGNORECASE)


class BannedWords(NamedTuple):
    """`keys` has one word of each phrase: a text without any of them has no banned phrase."""
    pattern: re.Pattern
    allowed: re.Pattern
    keys: frozenset
    instead: dict

    def find(self, text):
        """Yields the offset, the phrase and its replacement."""
        if self.keys.isdisjoint(LETTERS.findall(text.lower())):
            return
        allowed = [match.span() for match in self.allowed.finditer(text)]
        for match in self.pattern.finditer(text):
            if not any(begin <= match.start() and match.end() <= end for begin, end in allowed):
                phrase = SPACES.sub(" ", match[0])
                yield match.start(), phrase, self.instead[phrase.lower()]


@functools.lru_cache(maxsize=None)
def banned_words():
    instead, allowed = {}, []
    for line in read_list("prose.words"):
        banned, replacement, exceptions = split_row(line)
        instead.update(dict.fromkeys(phrases(banned), replacement))
        allowed += phrases(exceptions)
    keys = frozenset(max(phrase.split(), key=len) for phrase in instead)
    return BannedWords(phrase_pattern(instead), phrase_pattern(allowed), keys, instead)


@functools.lru_cache(maxsize=None)
def verbs():
    """Returns the verbs as pairs of the base form and the third person."""
    return [tuple(line.split()) for line in read_list("prose.verbs")]


@functools.lru_cache(maxsize=None)
def base_verbs():
    return frozenset(base for base, _ in verbs())


@functools.lru_cache(maxsize=None)
def third_person_verbs():
    return frozenset(third for _, third in verbs())


class OldNames(NamedTuple):
    """Names that were replaced: identifiers, patterns with `*`, and names or paths of files."""
    identifiers: dict
    patterns: list
    files: dict

    def replacement(self, name):
        """Returns the new name of an identifier, or None if the identifier is not an old one."""
        if name in self.identifiers:
            return self.identifiers[name]
        return next((new for pattern, new in self.patterns if pattern.fullmatch(name)), None)


@functools.lru_cache(maxsize=None)
def old_names():
    names = OldNames({}, [], {})
    for line in read_list("prose.names"):
        old, new = split_row(line)
        if "." in old:
            names.files[old] = new
        elif "*" in old:
            names.patterns.append((re.compile(old.replace("*", r"\w+")), new))
        else:
            names.identifiers[old] = new
    return names
