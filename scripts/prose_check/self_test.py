"""The self-test: every rule against the examples in `tests/contract/prose/`."""
import re

from prose_check import commit, lexer, markdown, names, read, rules, words

FOLDER = read.ROOT / "tests/contract/prose"
CASE = re.compile(r"(?:(?P<rule>P\d+|none) )?(?P<scope>\w+): (?P<text>.*)$")
ALL_RULES = [f"P{number}" for number in range(1, 15)]
MOCK_UPS = 11


def comment_faults(text, trailing=False):
    return rules.comment_faults(lexer.Comment(1, text.split("\n"), trailing))


def string_faults(text):
    return rules.string_faults(lexer.Literal(1, text, 0, False))


def markdown_faults(text):
    return read.markdown_findings("README.md", text)


def help_faults(text):
    yield from rules.help_faults(1, text)
    yield from string_faults(text)


def summary_faults(text):
    yield from rules.summary_faults(1, text)
    yield from string_faults(text)


def named(faults):
    return [rules.Fault(1, rule, message, "") for rule, message in faults]


def cpp_test_faults(text):
    code = "TEST({}, {})".format(*text.split("."))
    return named(fault[1:3] for fault in names.all_test_faults(code, names.CPP_TEST))


def python_test_faults(text):
    return named(fault[1:3] for fault in names.all_test_faults(f"def {text}():", names.PYTHON_TEST))


def answer_faults(text):
    return rules.answer_faults(["GPU waits 48 % of the time", text])


SCOPES = {
    "comment": comment_faults,
    "trailing": lambda text: comment_faults(text, trailing=True),
    "string": string_faults,
    "markdown": markdown_faults,
    "changelog": lambda text: read.markdown_findings("CHANGELOG.md", text),
    "source": lambda text: read.text_findings("src/cli/example.cpp", text),
    "script": lambda text: read.text_findings("scripts/example.py", text),
    "shell": lambda text: read.text_findings("scripts/example.sh", text),
    "name": lambda text: named(names.name_faults(text)),
    "file": lambda text: named(names.file_faults(text)),
    "test": cpp_test_faults,
    "pytest": python_test_faults,
    "answer": answer_faults,
    "help": help_faults,
    "summary": summary_faults,
    "commit": lambda text: named(commit.subject_faults(text, commit.areas(["src/guest/a.cpp", "src/analysis/a.cpp"]))),
}


def cases(name):
    """Returns the place, the rule, the scope and the text of each case of a file."""
    result = []
    for number, line in enumerate((FOLDER / name).read_text(encoding="utf-8").splitlines(), 1):
        if line and not line.startswith("#"):
            match = CASE.match(line)
            text = match["text"].replace("\\n", "\n")
            result.append((f"tests/contract/prose/{name}:{number}", match["rule"], match["scope"], text))
    return result


def fired(scope, text):
    return {fault.rule for fault in SCOPES[scope](text)}


def bad_failures():
    tested = set()
    for place, rule, scope, text in cases("bad.txt"):
        found = fired(scope, text)
        tested.add(rule)
        if rule == "none" and found:
            yield f"{place}: no rule was known to find this, and {', '.join(sorted(found))} does: name the rule"
        elif rule != "none" and rule not in found:
            yield f"{place}: {rule} does not fire: {text}"
    for rule in ALL_RULES:
        if rule not in tested:
            yield f"tests/contract/prose/bad.txt: no case for {rule}"


def good_failures():
    for place, _, scope, text in cases("good.txt"):
        for fault in SCOPES[scope](text):
            yield f"{place}: {fault.rule} fires: {fault.message}"


def word_failures():
    """Each banned phrase is rejected once, each allowed phrase passes, and each old name is rejected."""
    banned = words.banned_words()
    for phrase in banned.instead:
        if len(list(banned.find(f"The loader {phrase} the batch."))) != 1:
            yield f'scripts/prose.words: "{phrase}" is not rejected once'
    for line in words.read_list("prose.words"):
        for phrase in words.phrases(words.split_row(line)[2]):
            if list(banned.find(f"The loader {phrase} the batch.")):
                yield f'scripts/prose.words: "{phrase}" is rejected, and it is allowed'
    for old in words.old_names().identifiers:
        if "P11" not in {rule for rule, _ in names.name_faults(old)}:
            yield f"scripts/prose.names: {old} is not rejected"


def mock_ups():
    """Returns the lines of each answer. A line "=== NAME" begins one."""
    texts = (FOLDER / "answers.txt").read_text(encoding="utf-8").split("=== ")[1:]
    return {text.split("\n")[0]: text.rstrip("\n").split("\n")[1:] for text in texts}


def mock_up_faults(lines):
    yield from rules.answer_faults(lines)
    for number, line in enumerate(lines, 1):
        prose = markdown.Prose([(number, line)], False)
        yield from rules.word_faults(prose)
        for column in re.split(r" {2,}", line):
            for _, sentence in rules.sentences(column):
                if message := rules.punctuation_fault(sentence):
                    yield rules.Fault(number, "P6", message, sentence)


def mock_up_failures():
    answers = mock_ups()
    if len(answers) != MOCK_UPS:
        yield f"tests/contract/prose/answers.txt: {len(answers)} answers, expected {MOCK_UPS}"
    for name, lines in answers.items():
        for fault in mock_up_faults(lines):
            yield f"tests/contract/prose/answers.txt: {name}, line {fault.line}: {fault.rule}: {fault.message}"


def failures():
    """Returns a message for each example with another outcome than its file says."""
    return [*bad_failures(), *good_failures(), *word_failures(), *mock_up_failures()]
