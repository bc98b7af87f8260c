"""The files that are checked, and the rules that apply to each."""
import pathlib
import re
import subprocess
from typing import NamedTuple

from prose_check import lexer, markdown, names, rules

ROOT = pathlib.Path(__file__).resolve().parents[2]
CPP = (".h", ".cpp", ".cu", ".cuh", ".def")
SHELL_FIRST_LINE = re.compile(r"#!.*\b(?:ba)?sh\b")
PYTHON_FIRST_LINE = re.compile(r"#!.*\bpython3?\b")
MARKDOWN = re.compile(r"(?:README|CHANGELOG|CONTRIBUTING)\.md$|src/manual/.*\.md$|reports/.*\.md$")
# Text writers of answers. `describe_*` and `*_json` have the sentences of the JSON schemas, `draw_*` the pictures of the
# page.
ANSWER_WRITER = re.compile(r"src/report/(?!describe_|draw_)[^/]*(?<!_json)\.\w+$")
GOLDEN_ANSWER = re.compile(r"tests/.*\b(?:golden|answers)/.*\.txt$")


class Finding(NamedTuple):
    """One violation of a rule in a file. `text` is the sentence, for the allow-list."""
    path: str
    line: int
    rule: str
    message: str
    text: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.rule}: {self.message}"


class NoRepository(Exception):
    """The files of the project cannot be listed."""


def project_files():
    """Returns the paths of the files that git tracks, or that would be added. Throws NoRepository."""
    command = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listed = subprocess.run(command, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise NoRepository(f"git ls-files fails in {ROOT}: {error}") from error
    paths = listed.stdout.decode(errors="replace").split("\0")
    return [path for path in paths if path and (ROOT / path).is_file()]


def kind(path, text):
    """Returns the language of a file, or "" if no rule reads it."""
    name = path.rsplit("/", 1)[-1]
    if path.endswith(CPP):
        return "cpp"
    if path.endswith(".py"):
        return "python"
    if path.endswith(".cmake") or name == "CMakeLists.txt" or path.endswith(".sh"):
        return "shell"
    if MARKDOWN.match(path):
        return "markdown"
    if GOLDEN_ANSWER.match(path):
        return "answer"
    first_line = text[:text.find("\n")]
    if SHELL_FIRST_LINE.match(first_line):
        return "shell"
    return "python" if PYTHON_FIRST_LINE.match(first_line) else ""


def may_have_rules(path):
    """Returns False for files that need not be opened: data, pictures and fuzzing corpora."""
    name = path.rsplit("/", 1)[-1]
    return "." not in name or path.endswith((*CPP, ".py", ".cmake", ".sh", ".md", ".txt"))


def comment_findings(source):
    for comment in source.comments:
        yield from rules.comment_faults(comment)


def string_findings(path, source):
    """Applies the rules for strings, which people read if they are in src/."""
    if not path.startswith(("src/", "include/")):
        return
    for literal in source.literals:
        yield from rules.string_faults(literal)
        if ANSWER_WRITER.match(path):
            yield from rules.label_fault(literal.line, literal.text)
    yield from rules.error_faults(source)
    if path.startswith("src/cli/"):
        yield from rules.flag_faults(source)


def name_findings(path, source, language):
    if language == "cpp":
        declaration, test = names.cpp_declaration, names.CPP_TEST
    else:
        declaration, test = names.python_declaration, names.PYTHON_TEST
    for offset, rule, message, name in names.identifier_faults(source.code, declaration):
        yield rules.Fault(lexer.line_number(source.code, offset), rule, message, name)
    for offset, rule, message, name in names.all_test_faults(source.code, test):
        yield rules.Fault(lexer.line_number(source.code, offset), rule, message, name)


def source_findings(path, text, language):
    split = {"cpp": lexer.split_cpp, "python": lexer.split_python, "shell": lexer.split_shell}[language]
    source = split(text)
    yield from comment_findings(source)
    if language != "shell":
        yield from string_findings(path, source)
        yield from name_findings(path, source, language)
    for rule, message in names.file_faults(path):
        yield rules.Fault(1, rule, message, path.rsplit("/", 1)[-1])


def markdown_findings(path, text):
    lines = text.split("\n")
    yield from rules.markdown_faults(markdown.blocks(text))
    yield from rules.column_faults(lines)
    if path == "CHANGELOG.md":
        yield from rules.changelog_faults(lines)


def text_findings(path, text):
    """Yields the faults of a file with this path and this text."""
    language = kind(path, text)
    if language == "markdown":
        yield from markdown_findings(path, text)
    elif language == "answer":
        yield from rules.answer_faults(text.split("\n"))
    elif language:
        yield from source_findings(path, text, language)


def file_findings(path):
    """Returns the findings of one file in the order of their lines."""
    if not may_have_rules(path):
        return []
    text = (ROOT / path).read_text(encoding="utf-8", errors="replace")
    found = {Finding(path, *fault) for fault in text_findings(path, text)}
    return sorted(found)
