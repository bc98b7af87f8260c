"""Edits the arguments of one call in a Python file: edit_call.py FOLDER. FOLDER has `request.json` and `source`. Writes
`answer.json` and, for an edit, `edited` and `diff` there. Needs Python 3.8 and only its own modules."""

import ast
import difflib
import io
import json
import os
import re
import sys
import tokenize

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # an isolated Python leaves it out
from module_constant import find_constant  # noqa: E402

if sys.version_info < (3, 8):
    sys.exit("needs Python 3.8 or later")

_NO_VALUES = (tokenize.NL, tokenize.NEWLINE, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT)
_NEED_WORKERS = ("prefetch_factor", "persistent_workers", "multiprocessing_context")


class Unproven(Exception):
    """The reason why the call is not edited, as the end of a sentence that begins with the place."""

    def __init__(self, reason, manual_edits=(), others=()):
        super().__init__(reason)
        self.others = others
        self.manual_edits = list(manual_edits)  # places to edit by hand


class Source:
    """Text of the file. Offsets count characters."""

    def __init__(self, content):
        self.content = content
        try:
            self.encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
            self.text = content.decode(self.encoding)
            self.tree = ast.parse(self.text)
        except (SyntaxError, ValueError, LookupError, RecursionError, MemoryError) as error:
            raise Unproven(f"cannot be parsed by Python {sys.version_info[0]}.{sys.version_info[1]} ({error})")
        if re.search("\r(?!\n)", self.text):
            raise Unproven("has line ends of old systems")
        if self.encode(self.text) != content:
            raise Unproven(f"has bytes that {self.encoding} does not keep")
        self._lines = re.findall("[^\n]*\n|[^\n]+$", self.text)
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line))

    def encode(self, text):
        return text.encode(self.encoding)

    def offset(self, line, utf8_column):
        """Returns the offset of a position of `ast`, which counts bytes of UTF-8."""
        before = self._lines[line - 1].encode("utf-8")[:utf8_column].decode("utf-8")
        return self._starts[line - 1] + len(before)

    def place(self, offset):
        """Returns the line and the column of an offset, both from 1."""
        line = max(number for number, start in enumerate(self._starts) if start <= offset)
        return line + 1, offset - self._starts[line] + 1

    def span(self, node):
        return self.offset(node.lineno, node.col_offset), self.offset(node.end_lineno, node.end_col_offset)

    def get_line(self, offset):
        line = self.place(offset)[0]
        return self._lines[line - 1] if line <= len(self._lines) else ""

    def line_begin(self, offset):
        return self._starts[self.place(offset)[0] - 1]

    def tokens(self):
        """Returns (kind, begin, end) of each token that has a value."""
        found = []
        try:
            for token in tokenize.generate_tokens(io.StringIO(self.text, newline="").readline):
                if token.type not in _NO_VALUES:
                    begin, end = (self._starts[line - 1] + column for line, column in (token.start, token.end))
                    found.append((token.string, begin, end))
        except (tokenize.TokenError, SyntaxError, IndexError):
            raise Unproven("cannot be divided into tokens")
        return found


class Bindings:
    """The meanings of the names of a file: full names of imports, and names that are bound in another way."""

    def __init__(self, tree):
        self.imports, self.others, self.stars = {}, set(), []
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    top = alias.name.partition(".")[0]
                    self._add(alias.asname or top, alias.name if alias.asname else top)
            elif isinstance(node, ast.ImportFrom):
                self._add_from(node)
            else:
                self._add_other(node)

    def _add(self, name, full):
        self.imports.setdefault(name, set()).add(full)

    def _add_from(self, node):
        module = "." * node.level + (node.module or "")
        for alias in node.names:
            if alias.name == "*":
                self.stars.append(module)
            else:
                self._add(alias.asname or alias.name, f"{module}.{alias.name}")

    def _add_other(self, node):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            self.others.add(node.name)
        elif isinstance(node, ast.arg):
            self.others.add(node.arg)
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            self.others.add(node.id)
        elif isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            self.others.add("." + node.attr)
        elif not isinstance(node, ast.alias):  # except, match and type parameters have their names as text
            for field in ("name", "rest"):
                name = getattr(node, field, None)
                if isinstance(name, str):
                    self.others.add(name)

    def find(self, function):
        """Returns the full names that a function of a call may have. Empty if any of them is unknown."""
        parts = []
        while isinstance(function, ast.Attribute):
            parts.insert(0, function.attr)
            function = function.value
        if not isinstance(function, ast.Name):
            return set()
        root = function.id
        if root in self.others or "." + (parts or [root])[-1] in self.others:
            return set()
        if root in self.imports:
            return {".".join([full] + parts) for full in self.imports[root]}
        return {".".join([self.stars[0], root] + parts)} if len(self.stars) == 1 else set()


def last_name(function):
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


class Finder:
    """Finds the one call that the request describes."""

    def __init__(self, source, request):
        self._request = request
        self._bindings = Bindings(source.tree)
        self._calls = [node for node in ast.walk(source.tree) if isinstance(node, ast.Call)]

    def _is_imported(self, call):
        names = self._bindings.find(call.func)
        return bool(names) and all(
            full.partition(".")[0] in self._request["packages"] and full.rpartition(".")[2] in self._request["names"]
            for full in names)

    def _sees_call(self):
        """The run saw a function or a class of the framework that takes the arguments."""
        module, _, function = self._request["called"].rpartition(".")
        if function == "__init__":
            package, kind = module.partition(".")[0], module.rpartition(".")[2]
            return package in self._request["packages"] and kind in self._request["called_classes"]
        return any((module + ".").startswith(known + ".") for known in self._request["called_modules"])

    def _is_called(self, call):
        """The line has the function or the class that the run saw."""
        name = self._request["called"]
        name = name[:-len(".__init__")] if name.endswith(".__init__") else name
        return self._sees_call() and last_name(call.func) == name.rpartition(".")[2]

    def _agrees(self, call):
        """The class or the function that the run saw is of the import."""
        made, modules = self._request["made"], self._request["called_modules"]
        if modules and not self._sees_call():
            return False
        names = self._bindings.find(call.func)
        return not made or all(
            (full.partition(".")[0], full.rpartition(".")[2]) == (made.partition(".")[0], made.rpartition(".")[2])
            for full in names)

    def _at_line(self):
        line = self._request["line"]
        return [call for call in self._calls if line in (call.lineno, call.func.end_lineno)]

    def find(self):
        wanted = " or ".join(self._request["names"])
        if not self._request["only"]:
            here = self._at_line()
            fitting = [call for call in here if self._is_called(call) or self._is_imported(call) and self._agrees(call)]
            if len(fitting) > 1:
                raise Unproven(f"has {len(fitting)} calls that make a loader on this line")
            if fitting:
                return fitting[0]
            if not self._request["or_only"]:
                named = [call for call in here if last_name(call.func) in self._request["names"]]
                raise Unproven(f"has a {wanted} on this line that is not surely the one that ran" if named else
                               f"has no call of {wanted} on this line")
        named = [call for call in self._calls if last_name(call.func) in self._request["names"]]
        if len(named) != 1:
            raise Unproven(f"has {len(named) or 'no'} call{'s' if len(named) > 1 else ''} of {wanted}"
                           + (", and any of them may be it" if named else ""))
        if not self._is_imported(named[0]):
            raise Unproven(f"has a {wanted} that is not surely imported from " + " or ".join(self._request["packages"]))
        return named[0]


class Editor:
    """Edits of one call, as (begin, end, new text) of its file."""

    def __init__(self, source, call, request):
        self._source, self._call, self._request = source, call, request
        self.edits = []
        self.constants = {}  # statements that give an argument its value, by argument
        self._missing = []  # keywords to add
        self._reasons = {}  # reasons why the value is not edited, by argument
        self._manual_edits = []  # values to change by hand
        self._others = []  # further changes, as name=value
        self._given = {keyword.arg: keyword.value for keyword in call.keywords}
        for name, value in zip(request["positions"], call.args):
            self._given.setdefault(name, value)

    def edit(self):
        for name, value in self._request["arguments"]:
            self._change(name, value)
        if self._manual_edits:
            first = self._manual_edits[0]
            why = self._reasons.get(first["argument"])
            reason = f"gives {first['argument']} by an expression ({first['now']})" + (f"; {why}" if why else "")
            raise Unproven(reason, self._manual_edits, self._others)
        self._refuse_unknown_arguments()
        if self._missing:
            self._add()
        return self.edits

    def _change(self, name, value):
        given = self._given.get(name)
        if given is None:
            self._missing.append(f"{name}={value}")
            self._others.append(f"{name}={value}")
            return
        given = self._find_constant(name, given)
        begin, end = self._source.span(given)
        try:
            now = ast.literal_eval(given)
            is_literal = isinstance(given, (ast.Constant, ast.UnaryOp))
        except (ValueError, TypeError, SyntaxError):
            is_literal = False
        if not is_literal:
            line, column = self._source.place(begin)
            end_line, end_column = self._source.place(end)
            self._manual_edits.append({"argument": name, "now": self._source.text[begin:end], "then": value, "line": line,
                                  "column": column, "end_line": end_line, "end_column": end_column})
        elif now != ast.literal_eval(value) or type(now) is not type(ast.literal_eval(value)):
            self.edits.append((begin, end, value))
            self._others.append(f"{name}={value}")

    def _find_constant(self, name, given):
        """Returns the literal of a constant of the module that only this call uses, else `given`."""
        statement, self._reasons[name] = None, ""
        if isinstance(given, ast.Name):
            statement, self._reasons[name] = find_constant(self._source.tree, given)
        if statement is None:
            return given
        self.constants[name] = statement
        return statement.value

    def _refuse_unknown_arguments(self):
        if any(keyword.arg is None for keyword in self._call.keywords):
            raise Unproven("gives arguments by **")
        if any(isinstance(argument, ast.Starred) for argument in self._call.args):
            raise Unproven("gives arguments by *")
        known = max(len(self._request["positions"]), self._request["safe_positions"])
        if self._request["called_classes"] and self._request["called"].endswith(".__init__"):
            known = 1  # the order of further arguments is not that of the functions
        if len(self._call.args) > known:
            raise Unproven("gives arguments by position that may be these")
        workers = dict(self._request["arguments"]).get("num_workers")
        needing = [name for name in _NEED_WORKERS if name in self._given]
        if workers == "0" and needing:
            raise Unproven("gives " + ", ".join(needing) + ", which needs workers")

    def _last_argument(self):
        """Returns the begin of the last argument."""
        begins = [self._source.span(argument)[0] for argument in self._call.args]
        for keyword in self._call.keywords:
            begin = self._source.span(keyword.value)[0]
            equals = self._source.text.rindex("=", 0, begin)
            name = self._source.text.rindex(keyword.arg, 0, equals)
            begins.append(name)
        return max(begins)

    def _add(self):
        source, text = self._source, self._source.text
        added = ", ".join(self._missing)
        close = source.span(self._call)[1] - 1
        inside = [token for token in source.tokens() if source.span(self._call.func)[1] <= token[1] < close]
        if text[close] != ")" or not inside:
            raise Unproven("has a call whose end is not found")
        last, _, end = inside[-1]
        if last == "(" and not self._call.args and not self._call.keywords:
            self.edits.append((end, end, added))
            return
        begin = self._last_argument()
        has_comma = last == ","
        indent = re.match("[ \t]*", source.get_line(begin)).group()
        is_first = source.line_begin(begin) + len(indent) == begin
        line = source.get_line(end)
        own_lines = is_first and source.place(end)[0] < source.place(close)[0] and not line.rstrip().endswith("\\")
        if not own_lines:
            self.edits.append((end, end, f" {added}," if has_comma else f", {added}"))
            return
        # One argument per line, and the bracket on a line of its own.
        newline = "\r\n" if line.endswith("\r\n") else "\n"
        at = source.line_begin(end) + len(line) - len(newline)
        if not has_comma:
            self.edits.append((end, end, ","))
        ending = "," if has_comma else ""
        lines = ("," + newline + indent).join(self._missing)
        self.edits.append((at, at, f"{newline}{indent}{lines}{ending}"))


def apply_edits(text, edits):
    # Stable: of two insertions at one offset, the later one comes after the earlier one.
    for begin, end, new in reversed(sorted(edits, key=lambda edit: edit[:2])):
        text = text[:begin] + new + text[end:]
    return text


def expected_tree(source, call, request, constants):
    """Changes the call, and the statements of its constants, as the request says. Returns a text of the whole tree."""
    positions = request["positions"]
    for name, value in request["arguments"]:
        new = ast.parse(value, mode="eval").body
        if name in constants:
            constants[name].value = new
            continue
        keyword = next((keyword for keyword in call.keywords if keyword.arg == name), None)
        at = positions.index(name) if name in positions else len(call.args)
        if keyword is not None:
            keyword.value = new
        elif at < len(call.args):
            call.args[at] = new
        else:
            call.keywords.append(ast.keyword(arg=name, value=new))
    return ast.dump(source.tree)


def make_diff(source, edited, name):
    """Returns the diff in the encoding of the file. A path from the root has no prefix."""
    has_mark = source.encoding == "utf-8-sig"
    mark = "\ufeff" if has_mark else ""
    before, after = (re.findall("[^\n]*\n|[^\n]+$", mark + text) for text in (source.text, edited))
    sides = [name, name] if name.startswith("/") else ["a/" + name, "b/" + name]
    lines = difflib.unified_diff(before, after, *sides)
    text = "".join(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n" for line in lines)
    return text.encode("utf-8" if has_mark else source.encoding, "replace")


def answer(request, content):
    """Returns the answer, the edited content and the diff. The last two are None without an edit."""
    try:
        source = Source(content)
        call = Finder(source, request).find()
    except Unproven as unproven:
        return {"reason": str(unproven), "by_hand": unproven.manual_edits}, None, None
    found = {"line": call.lineno}
    try:
        editor = Editor(source, call, request)
        edits = editor.edit()
    except Unproven as unproven:
        left = {"by_hand": unproven.manual_edits, "others": unproven.others}
        return {**found, "reason": str(unproven), **left}, None, None
    if len(editor.constants) == len(request["arguments"]):
        found["line"] = min(statement.lineno for statement in editor.constants.values())
    if not edits:
        return {**found, "unchanged": True}, None, None
    edited = apply_edits(source.text, edits)
    try:
        is_proven = ast.dump(ast.parse(edited)) == expected_tree(source, call, request, editor.constants)
        new_content = source.encode(edited)
    except (SyntaxError, ValueError):
        is_proven = False
    if not is_proven:
        return {**found, "reason": "would change in more than this call", "by_hand": []}, None, None
    return found, new_content, make_diff(source, edited, request["name"])


def main(folder):
    with open(os.path.join(folder, "request.json"), encoding="utf-8") as file:
        request = json.load(file)
    with open(os.path.join(folder, "source"), "rb") as file:
        content = file.read()
    try:
        said, edited, diff = answer(request, content)
    except (RecursionError, MemoryError):
        said, edited, diff = {"reason": "is nested too deep", "by_hand": []}, None, None
    for name, content in (("edited", edited), ("diff", diff), ("answer.json", json.dumps(said).encode())):
        if content is not None:
            with open(os.path.join(folder, name), "wb") as file:
                file.write(content)


if __name__ == "__main__":
    main(sys.argv[1])
