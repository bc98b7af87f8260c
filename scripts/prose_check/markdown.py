"""The sentences of a Markdown file."""
import re
from typing import NamedTuple

FENCE = re.compile(r"^\s*(?:```|~~~)")
BLOCK_START = re.compile(r"^\s*(?:[-*+]\s|\d+[.)]\s|#{1,6}\s|>)")
TABLE_ROW = re.compile(r"^\s*\|")
INLINE_CODE = re.compile(r"`+[^`]*`+")
LINK_TARGET = re.compile(r"\]\([^)]*\)|<https?:[^>]*>|https?:\S+")


class Prose(NamedTuple):
    """Text with the line number of each of its parts."""
    parts: list
    is_code: bool

    @property
    def text(self):
        return " ".join(text for _, text in self.parts)

    @property
    def line(self):
        return self.parts[0][0]

    def line_at(self, offset):
        for line, text in self.parts:
            offset -= len(text) + 1
            if offset < 0:
                return line
        return self.parts[-1][0]


def without_code(text):
    """Replaces inline code and the targets of links by words of the same length that no rule rejects."""
    if "`" in text:
        text = INLINE_CODE.sub(fill, text)
    return LINK_TARGET.sub(fill, text) if "](" in text or "http" in text else text


def fill(match):
    return "x" * len(match[0])


def table_cells(number, line):
    cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
    return [Prose([(number, cell)], False) for cell in cells if cell.strip(":-")]


def blocks(text):
    """Returns the paragraphs, headings, list items, table cells and lines of code."""
    result, open_parts, is_code = [], [], False

    def close():
        if open_parts:
            result.append(Prose(list(open_parts), False))
            open_parts.clear()

    for number, line in enumerate(text.split("\n"), 1):
        if FENCE.match(line):
            close()
            is_code = not is_code
        elif is_code:
            result.append(Prose([(number, line)], True))
        elif TABLE_ROW.match(line):
            close()
            result += table_cells(number, line)
        elif not line.strip():
            close()
        else:
            if BLOCK_START.match(line):
                close()
            open_parts.append((number, line.strip().lstrip("#>").strip()))
            if line.lstrip().startswith("#"):
                close()
    close()
    return result
