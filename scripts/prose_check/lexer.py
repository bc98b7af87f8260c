"""Splits a source file into comments, string literals and code."""
import re
from typing import NamedTuple

# Each alternative begins with a character of its own: the search skips all others fast.
CPP_TOKEN = re.compile(r"""//[^\n]*|/\*.*?\*/|R"([^()\s\\"]{0,16})\(.*?\)\1"|"(?:[^"\\\n]|\\.)*"|"""
                       r"""'(?<![0-9a-fA-F]')(?:[^'\\\n]|\\.)+'""", re.DOTALL)
PYTHON_TOKEN = re.compile(r"""#[^\n]*|\"{3}(?:[^\\]|\\.)*?\"{3}|"(?:[^"\\\n]|\\.)*"|"""
                          r"""'{3}(?:[^\\]|\\.)*?'{3}|'(?:[^'\\\n]|\\.)*'""", re.DOTALL)
PREFIX = re.compile(r"(?<!\w)[A-Za-z]{1,2}\Z")
SHELL_COMMENT = re.compile(r"(?P<code>(?:.*?\s)??)(?P<comment>#(?: .*)?)$")
QUOTED = re.compile(r"\\.|'[^']*'|\"(?:[^\"\\]|\\.)*\"")
ESCAPE = re.compile(r"\\(?:x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{4}|[0-7]{1,3}|.)", re.DOTALL)
UNESCAPED = {"\\n": "\n", "\\t": " ", '\\"': '"', "\\'": "'", "\\\\": "\\"}
DEFINITION_END = re.compile(r"(?:^|\n)\s*(?:async\s+def|def|class)\b[^\n]*:\s*$|\)[^\n]*:\s*$")


class Comment(NamedTuple):
    """Lines of one comment without their markers. It is `trailing` if code comes before it on its first line."""
    line: int
    lines: list
    trailing: bool


class Literal(NamedTuple):
    """A string literal, or several adjacent ones as one. `begin` is its offset in the file."""
    line: int
    text: str
    begin: int
    raw: bool


class Source(NamedTuple):
    """`code` has the length and the lines of the file. Spaces replace its comments and literals."""
    comments: list
    literals: list
    code: str


def line_number(text, offset):
    return text.count("\n", 0, offset) + 1


def blank(text):
    return " " * len(text) if "\n" not in text else re.sub(r"[^\n]", " ", text)


def unescape(text):
    if "\\" not in text:
        return text
    return ESCAPE.sub(lambda match: UNESCAPED.get(match[0], ""), text)


class CommentJoiner:
    """Joins comment lines to blocks: lines of one column, and lines that continue a comment after code."""

    def __init__(self):
        self.comments = []
        self.next_line = 0
        self.column = 0

    def add(self, line, column, text, trailing):
        if line == self.next_line and column == self.column and not trailing:
            self.comments[-1].lines.append(text)
        else:
            self.comments.append(Comment(line, [text], trailing))
        self.next_line = line + 1
        self.column = column


def literal_text(literal, raw):
    """Returns the text of a literal without its quotes."""
    if literal.startswith("R"):
        return literal[literal.index("(") + 1:literal.rindex(")")]
    width = 3 if len(literal) >= 6 and literal[:3] in ('"' * 3, "'" * 3) else 1
    return literal[width:-width] if raw else unescape(literal[width:-width])


def is_docstring(before, after):
    line = before.rsplit("\n", 1)[-1].strip("rRfF")
    if line.strip() or after.strip():
        return False
    return not before.strip().strip("rR") or DEFINITION_END.search(before.rstrip()) is not None


class Splitter:
    """Collects the tokens of one file in their order."""

    def __init__(self, text, docstrings):
        self.text = text
        self.docstrings = docstrings
        self.comment_marker = "#" if docstrings else "//"
        self.comments = CommentJoiner()
        self.literals = []
        self.code = []
        self.line = 1
        self.end = 0
        self.literal_end = 0

    def add(self, token):
        begin, content = token.start(), token[0]
        between = self.text[self.end:begin]
        self.line += between.count("\n")
        self.code.append(between)
        if content.startswith(self.comment_marker):
            self.add_comment(begin, content)
        elif self.is_string(content):
            raw = content.startswith("R") or self.has_raw_prefix(begin)
            self.add_literal(begin, token.end(), literal_text(content, raw), raw)
        self.code.append(blank(content))
        self.line += content.count("\n")
        self.end = token.end()

    def is_string(self, content):
        return self.docstrings or content[0] in 'R"'

    def has_raw_prefix(self, begin):
        prefix = PREFIX.search(self.text, max(0, begin - 3), begin) if self.docstrings else None
        return prefix is not None and "r" in prefix[0].lower()

    def add_comment(self, begin, content):
        start = self.text.rfind("\n", 0, begin) + 1
        trailing = not (start == begin or self.text[start:begin].isspace())
        self.comments.add(self.line, begin - start, content.lstrip("/!<#"), trailing)

    def is_docstring(self, end):
        line_end = self.text.find("\n", end)
        return is_docstring("".join(self.code[-8:]), self.text[end:line_end if line_end >= 0 else None])

    def add_literal(self, begin, end, content, raw):
        if self.docstrings and self.is_docstring(end):
            self.comments.comments.append(Comment(self.line, content.strip("\n").split("\n"), False))
            return
        between = self.text[self.literal_end:begin]
        if self.literals and (between.rstrip("rRbBfF") if self.docstrings else between).isspace():
            self.literals[-1] = self.literals[-1]._replace(text=self.literals[-1].text + content)
        else:
            self.literals.append(Literal(self.line, content, begin, raw))
        self.literal_end = end


def split_tokens(text, pattern, docstrings):
    splitter = Splitter(text, docstrings)
    for token in pattern.finditer(text):
        splitter.add(token)
    splitter.code.append(text[splitter.end:])
    return Source(splitter.comments.comments, splitter.literals, "".join(splitter.code))


def split_cpp(text):
    return split_tokens(text, CPP_TOKEN, docstrings=False)


def split_python(text):
    return split_tokens(text, PYTHON_TOKEN, docstrings=True)


def split_shell(text):
    """Finds the comments of a shell script or a CMake file. A comment has a space after its #."""
    comments = CommentJoiner()
    for number, line in enumerate(text.split("\n"), 1):
        match = SHELL_COMMENT.match(line)
        code = QUOTED.sub("", match["code"]) if match else ""
        if match and '"' not in code and "'" not in code:
            comments.add(number, match.start("comment"), match["comment"][1:], bool(code.strip()))
    return Source(comments.comments, [], "")
