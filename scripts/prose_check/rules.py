"""Rules P1 to P6, P8 to P10, P13 and P14, for comments, strings and Markdown. `names.py` has the rules for names."""
import re
from typing import NamedTuple

from prose_check import words
from prose_check.markdown import Prose, without_code

ALWAYS_REJECTED = frozenset(
    "of by who whose whom what which that those whether how why where likewise else behind beside nothing none nobody "
    "neither its it they as until whatever".split())
REJECTED_WITHOUT_COMMA = frozenset(
    "in on at to for from with without when once if after before within under over during".split())
MAX_COLUMNS = 120
MAX_SENTENCE = 35
MAX_HELP_SENTENCE = 90
MAX_HELP = 2 * MAX_HELP_SENTENCE  # two lines
MAX_ENTRY_LINES = 2

FIRST_WORD = re.compile(r"[\s\-=/*]*([A-Za-z]+)(?![\w(/-]|\.\w|::)")
WORD = re.compile(r"\S*\w\S*")
SENTENCE_END = re.compile(r"(?<!e\.g)(?<!i\.e)(?<!\bvs)(?<!\betc)(?<!\bcf)(?<!\bno)[.!?][\"')\]]*(?=\s|$)",
                          re.IGNORECASE)
NEW_ITEM = re.compile(r"\s*(?:[-*]\s|\d+[.)]\s|\||\s{3,}\S)|\s*$")
INLINE_EXCEPTION = re.compile(r"\bprose:\s*(?:ignore|off|allow|disable|skip)\b", re.IGNORECASE)
AMERICAN = re.compile(
    r"(?<![\w-])(?:color(?:s|ed|ing|ful|less)?|(?:de|re)?(?:normal|serial)iz(?:e[ds]?|ers?|ing|ations?)|behaviors?|"
    r"center(?:s|ed|ing)?)(?![\w(=-])", re.IGNORECASE)
AMERICAN_PARTS = ("color", "aliz", "behavior", "center")
SPELLING = {"color": "colour", "iz": "is", "behavior": "behaviour", "center": "centre"}

LONG_WORD = re.compile(r"[A-Za-z]{2,}")
# Formats of fmt and Python: "{:.1f}" looks like a rule of CSS to CODE_STRING
FORMAT = re.compile(r"\{:[^{}]*\}")
# Strings that people do not read as sentences.
CODE_STRING = re.compile(
    r"\b(?:SELECT|INSERT INTO|CREATE (?:TABLE|INDEX)|PRAGMA|DELETE FROM|LEFT JOIN)\b"  # SQL
    r"|\\[dswb.(\[]|\(\?:|\[\^"  # regular expressions
    r"|</?\w+[ >/]|[\w)]\s*\{[^{}]*[;:][^{}]*\}|;\n|=>|\w\(\);|\bfunction\b.*\(|^\s*[{\[]\s*\"|\bimport \w+(?:;|\n|$)"
    r"|\n(?:def|class|import|from|static|const|let|var) ")
PLACEHOLDER = re.compile(r"\{[^{}]*\}|%[-+ 0-9.]*[a-z]")
UPPER_VERDICT = re.compile(r"\b[A-Z]{2,}(?: [A-Z]{2,})*: ")

ANSWER_LABEL = re.compile(r"([A-Z]?[a-z]+(?: [a-z]+)?):(?:\s|$)")
# "Keys" is for the screen of watch. "Test" and "Learn" are inside the line of "More".
LABELS = frozenset(("Wrong data", "Fix", "Next", "Why", "Also", "More", "Keys", "Test", "Learn"))
# Line 1 of an answer may begin with these, which are no labels.
VERDICTS = frozenset(("No verdict", "Leave it"))

HELP_CALL = r"\badd_(?:option|flag)(?:_callback|_function)?"
USAGE_ERROR = re.compile(r"\b(?:throw|raise)\s+(?:\w+::)*Usage\Z")
OTHER_VERBS = frozenset("is are has have can cannot may must".split())
HAD_PARTICIPLE = re.compile(
    r"\bhad\s+(?:not\s+|already\s+|never\s+)?(?:\w+ed|been|begun|come|done|found|gone|got|given|held|kept|known|left|"
    r"lost|made|met|read|run|said|seen|sent|set|shown|stood|taken|written)\b", re.IGNORECASE)


class Fault(NamedTuple):
    """One violation. `text` is where an exception of the allow-list must be found."""
    line: int
    rule: str
    message: str
    text: str


def sentences(text):
    """Yields the offset and the text of each sentence."""
    begin = 0
    for match in SENTENCE_END.finditer(text):
        yield begin, text[begin:match.end()]
        begin = match.end()
    if text[begin:].strip():
        yield begin, text[begin:]


def count_words(sentence):
    return len(WORD.findall(sentence))


def begin_fault(comment):
    """P1 for a comment of its own, P2 for a comment after code."""
    text = "\n".join(comment.lines)
    match = FIRST_WORD.match(text)
    word = match[1].lower() if match else ""
    if word not in ALWAYS_REJECTED and word not in REJECTED_WITHOUT_COMMA:
        return
    first_sentence = next(sentences(text), (0, ""))[1]
    if word in REJECTED_WITHOUT_COMMA and "," in first_sentence:
        return
    if comment.trailing:
        yield Fault(comment.line, "P2", f'comment begins with "{match[1]}": use a noun phrase', first_sentence)
    else:
        yield Fault(comment.line, "P1", f'comment begins with "{match[1]}": name the thing first', first_sentence)


def comment_prose(comment):
    """Divides a comment at its list items, its examples and its empty lines."""
    parts = []
    for number, line in enumerate(comment.lines, comment.line):
        if parts and NEW_ITEM.match(line):
            yield Prose(parts, False)
            parts = []
        if line.strip():
            parts.append((number, line.strip()))
    if parts:
        yield Prose(parts, False)


def spelling_faults(prose, text):
    lower = text.lower()
    if not any(part in lower for part in AMERICAN_PARTS):
        return
    for match in AMERICAN.finditer(text):
        british = match[0]
        for american, replacement in SPELLING.items():
            british = british.replace(american, replacement)
        yield Fault(prose.line_at(match.start()), "P14", f'"{match[0]}": write "{british}"', prose.text)


def word_faults(prose):
    """P3 and P14, which do not apply to inline code."""
    text = without_code(prose.text)
    for offset, phrase, instead in words.banned_words().find(text):
        yield Fault(prose.line_at(offset), "P3", f'"{phrase}": write {instead}', prose.text)
    if not prose.is_code:
        yield from spelling_faults(prose, text)


def length_faults(prose):
    """P5."""
    text = prose.text
    if count_words(text) <= MAX_SENTENCE:
        return
    for offset, sentence in sentences(text):
        count = count_words(sentence)
        if count > MAX_SENTENCE:
            begin = offset + len(sentence) - len(sentence.lstrip())
            yield Fault(prose.line_at(begin), "P5", f"sentence of {count} words: split it, {MAX_SENTENCE} are allowed",
                        sentence)


def comment_faults(comment):
    yield from begin_fault(comment)
    for prose in comment_prose(comment):
        yield from word_faults(prose)
        yield from length_faults(prose)
        if "rose:" in prose.text and INLINE_EXCEPTION.search(prose.text):
            yield Fault(prose.line, "P3", "inline exception: scripts/prose.allow has the exceptions", prose.text)


def markdown_faults(blocks):
    for prose in blocks:
        yield from word_faults(prose)
        if not prose.is_code:
            yield from length_faults(prose)


def column_faults(lines):
    """P4."""
    for number, line in enumerate(lines, 1):
        if len(line) > MAX_COLUMNS:
            yield Fault(number, "P4", f"{len(line)} columns: break the line at {MAX_COLUMNS}", line)


def is_sentence(text):
    return len(text.split()) >= 3 and len(LONG_WORD.findall(text)) >= 3 and not CODE_STRING.search(FORMAT.sub("{}", text))


def string_faults(literal):
    """P3, P6 and P14 for a string of three words or more."""
    if (literal.raw and "\n" in literal.text) or not is_sentence(literal.text):
        return
    for line in literal.text.split("\n"):
        yield from word_faults(Prose([(literal.line, line)], False))
        if fault := punctuation_fault(line):
            yield Fault(literal.line, "P6", fault, line)


def punctuation_fault(line):
    plain = UPPER_VERDICT.sub("", PLACEHOLDER.sub("", line))
    if plain.count(";") > 1:
        return f"string with {plain.count(';')} semicolons: write several lines"
    if plain.count(": ") > 1:
        return f"string with {plain.count(': ')} colons: write several lines"
    return None


def label_fault(line, text):
    """P8."""
    match = ANSWER_LABEL.match(text)
    if match and match[1] not in LABELS | VERDICTS:
        yield Fault(line, "P8", f'label "{match[1]}": use one of Wrong data, Fix, Next, Why, Also, More', text)


def answer_faults(lines, first_line=1):
    """P8 for an answer. Its first line has no label, unless it is "Wrong data"."""
    for number, line in enumerate(lines[1:], first_line + 1):
        yield from label_fault(number, line)


def call_end(code, begin):
    """Returns the offset after the bracket that closes the one at `begin`."""
    depth = 0
    for match in re.compile(r"[()]").finditer(code, begin):
        depth += 1 if match[0] == "(" else -1
        if depth == 0:
            return match.end()
    return len(code)


def calls(source, names):
    """Yields the offset of the bracket of each call, the code of its arguments, and the literals in them."""
    for match in re.finditer(rf"(?:{names})\s*(?=\()", source.code):
        begin = match.end()
        end = call_end(source.code, begin)
        inside = [literal for literal in source.literals if begin <= literal.begin < end]
        if inside:
            yield match.start(), source.code[begin + 1:end - 1], inside


def has_second_argument(code):
    depth = 0
    for char in code:
        depth += (char in "([{") - (char in ")]}")
        if char == "," and depth == 0:
            return True
    return False


def error_faults(source):
    """P10."""
    for offset, code, literals in calls(source, "Error"):
        text = "".join(literal.text for literal in literals)
        line = literals[0].line
        if ";" in PLACEHOLDER.sub("", text):
            yield Fault(line, "P10", "error with a semicolon: put the next step into a hint", text)
        has_hint = "hint" in code or "hint: " in text or has_second_argument(code)
        if USAGE_ERROR.search(source.code, max(0, offset - 40), offset) and not has_hint:
            yield Fault(line, "P10", "UsageError without a hint", text)


def help_faults(line, text):
    """P9."""
    known = words.base_verbs() | words.third_person_verbs() | OTHER_VERBS
    if not text[:1] or text[0].islower():
        yield Fault(line, "P9", "help without a capital", text)
    if not text.endswith("."):
        yield Fault(line, "P9", "help without a full stop", text)
    longest = max(map(len, re.split(r"(?<=\.) ", text)))
    if longest > MAX_HELP_SENTENCE:
        limit = f"{MAX_HELP_SENTENCE} are allowed"
        yield Fault(line, "P9", f"help with a sentence of {longest} characters: {limit}", text)
    if len(text) > MAX_HELP:
        yield Fault(line, "P9", f"help of {len(text)} characters: {MAX_HELP} are allowed", text)
    if known.isdisjoint(re.findall(r"[\w-]+", text.lower())):
        yield Fault(line, "P9", "help without a verb", text)


def summary_faults(line, text):
    """P9 for the summary of a command, which begins with a verb."""
    yield from help_faults(line, text)
    if text.split(" ")[0].lower() not in words.base_verbs():
        yield Fault(line, "P9", "summary of a command: begin with a verb", text)


def flag_faults(source):
    for _, _, literals in calls(source, HELP_CALL):
        if len(literals) > 1:
            yield from help_faults(literals[-1].line, literals[-1].text)


def changelog_faults(lines):
    """P13."""
    begin = 0
    for number, line in enumerate([*lines, ""], 1):
        if begin and not line.startswith("  "):
            if number - begin > MAX_ENTRY_LINES:
                yield Fault(begin, "P13", f"entry of {number - begin} lines: {MAX_ENTRY_LINES} are allowed",
                            lines[begin - 1])
            begin = 0
        if line.startswith("- "):
            begin = number
        if match := HAD_PARTICIPLE.search(line):
            yield Fault(number, "P13", f'"{match[0]}": use the present tense', line)
