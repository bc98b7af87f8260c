"""Rules P3, P7 and P11 for names: identifiers, tests and files."""
import functools
import re

from prose_check import words

PREPOSITIONS = frozenset(("of", "by", "in", "beside", "behind"))
LAST_PREPOSITIONS = frozenset(("of", "in", "beside", "behind"))
ALLOWED_FIRST = frozenset((("in", "flight"), ("in", "order")))
ALLOWED_LAST = frozenset((("name", "of"), ("value", "of"), ("index", "of")))
ALLOWED_PREFIXES = frozenset(("is", "has", "to", "from", "on"))
SUPERLATIVE = re.compile(r"k(?:Most|Least|Fewest|Longest|Largest|Deepest|Widest)(?![a-z])")
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
CONSTANT = re.compile(r"k[A-Z]")
IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
MAX_TEST_NAME = 60

CPP_TEST = re.compile(r"\b(?:TYPED_)?TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\s*\)")
PYTHON_TEST = re.compile(r"^\s*(?:async\s+)?def\s+test_(\w+)", re.MULTILINE)
# Words before a name that show a use and not a declaration. `using` brings a name of another library.
NOT_TYPES = frozenset("using return throw new delete case goto else do co_return co_await co_yield and or not sizeof".split())
LAST_WORD = re.compile(r"[A-Za-z_]\w*\Z")
QUALIFIERS = re.compile(r"(?:\w+::)+\Z")
DECLARATION_AFTER = re.compile(r"\s*(?:[({;,)\[]|=(?!=)|:(?!:)|$)")
PYTHON_BEFORE = re.compile(r"\b(?:def|class|for|as)\s+\Z")
ASSIGNMENT = re.compile(r"\s*(?::[^=\n]+)?=(?!=)")
VALUE_AFTER = re.compile(r"\s*(?:\[[^\]]*\]\s*)?(?:\{|=(?!=))")


def split_name(name):
    """Returns the lower-case words of an identifier or of the name of a file."""
    if CONSTANT.match(name):
        name = name[1:]
    return [word.lower() for word in WORD.findall(name)]


def preposition_fault(name):
    parts = tuple(split_name(name))
    if not parts or parts[0] in ALLOWED_PREFIXES:
        return None
    if parts[0] in PREPOSITIONS and parts[:2] not in ALLOWED_FIRST:
        return f'"{name}" begins with a preposition: use a noun or a verb'
    if parts[-1] in LAST_PREPOSITIONS and parts not in ALLOWED_LAST:
        return f'"{name}" ends with a preposition: use a noun or a verb'
    return None


def name_faults(name):
    """Returns the rules and the messages of an identifier."""
    faults = []
    new = words.old_names().replacement(name)
    if new is not None:
        faults.append(("P11", f'"{name}" is an old name: write {new}'))
    elif SUPERLATIVE.match(name):
        faults.append(("P11", f'"{name}": begin with kMax or kMin'))
    elif fault := preposition_fault(name):
        faults.append(("P11", fault))
    for _, phrase, instead in words.banned_words().find(" ".join(split_name(name))):
        faults.append(("P3", f'"{phrase}" in "{name}": write {instead}'))
    return tuple(faults)


cached_faults = functools.lru_cache(maxsize=None)(name_faults)


def is_type(before):
    """Returns whether the code before a name ends with a type, such as `std::size_t`, `int*` or `Row<T>&`."""
    if before.endswith(":"):
        before = QUALIFIERS.sub("", before)
    stripped = before.rstrip()
    bare = stripped.rstrip("&*")
    if stripped == before and bare == stripped:  # no space and no star: the name is part of an expression
        return False
    if bare.endswith(">"):
        return bare[-2:-1].strip() not in ("", "-")
    word = LAST_WORD.search(bare, max(0, len(bare) - 30))
    return word is not None and word[0] not in NOT_TYPES


def occurrences(code, name, members=False):
    """Yields the offsets of a whole word. Words after a dot count only with `members`."""
    at = code.find(name)
    while at >= 0:
        before, after = code[at - 1:at], code[at + len(name):at + len(name) + 1]
        inside = before.isalnum() or before == "_" or after.isalnum() or after == "_"
        if not inside and (members or before != "."):
            yield at
        at = code.find(name, at + len(name))


def cpp_declaration(code, name):
    """Returns the offset at which C++ code declares a name, or -1."""
    for at in occurrences(code, name):
        after = code[at + len(name):at + len(name) + 40]
        if name.startswith("k") and CONSTANT.match(name) and VALUE_AFTER.match(after):
            return at
        if DECLARATION_AFTER.match(after) and is_type(code[max(0, at - 60):at]):
            return at
    return -1


def python_declaration(code, name):
    """Returns the offset at which Python code declares a name, or -1."""
    for at in occurrences(code, name, members=True):
        before = code[code.rfind("\n", 0, at) + 1:at]
        if PYTHON_BEFORE.search(before):
            return at
        if before.strip() in ("", "self.") and ASSIGNMENT.match(code, at + len(name)):
            return at
    return -1


def identifier_faults(code, find_declaration):
    """Yields the offset, the rule, the message and the name for each faulty name that the code declares."""
    for name in set(IDENTIFIER.findall(code)):
        faults = cached_faults(name)
        if faults and (offset := find_declaration(code, name)) >= 0:
            for rule, message in faults:
                yield offset, rule, message, name


def judge_test(name, first_word):
    """Returns the message of P7 for the name of a test, or None."""
    if first_word not in words.third_person_verbs():
        return f'test "{name}" begins with "{first_word}": begin with a verb in the third person'
    if len(name) > MAX_TEST_NAME:
        return f'test "{name}" has {len(name)} characters: {MAX_TEST_NAME} are allowed'
    return None


def all_test_faults(code, pattern):
    """Yields the offset, the rule, the message and the name for the tests of a file."""
    if "TEST" not in code and "test_" not in code:
        return
    for match in pattern.finditer(code):
        name = match[pattern.groups]
        parts = split_name(name) or [""]
        if fault := judge_test(name, parts[0]):
            yield match.start(), "P7", fault, name
        for part in match.groups():
            for _, phrase, instead in words.banned_words().find(" ".join(split_name(part))):
                yield match.start(), "P3", f'"{phrase}" in "{part}": write {instead}', part


def file_faults(path):
    """Yields the rule and the message for the name of a file."""
    name = path.rsplit("/", 1)[-1]
    files = words.old_names().files
    new = files.get(path) or files.get(name)
    if new:
        yield "P11", f'"{name}" is an old name: write {new}'
    stem = name.split(".")[0]
    yield from name_faults(stem.replace("-", "_"))
