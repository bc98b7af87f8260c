"""Finds the literal of a constant of a module, such as NUM_WORKERS = 4."""

import ast

_CAN_CHANGE_ANY_NAME = ("exec", "eval", "globals", "locals", "vars")


def _bound_names(node):
    """Returns the names that a node binds or declares, without those of ast.Name."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [node.name]
    if isinstance(node, (ast.Global, ast.Nonlocal)):
        return node.names
    if isinstance(node, ast.arg):
        return [node.arg]
    if isinstance(node, ast.alias):
        return [node.asname or node.name.partition(".")[0]]
    if isinstance(node, ast.Attribute):
        return [node.attr]  # the module itself may be known under another name
    # except, match and type parameters have their names as text
    return [name for name in (getattr(node, field, None) for field in ("name", "rest")) if isinstance(name, str)]


def _can_change_any_name(node, statement):
    if isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names):
        return node.lineno > statement.lineno
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        return False
    return node.func.id in _CAN_CHANGE_ANY_NAME and not (node.func.id == "vars" and node.args)


def _is_assignment(statement, name):
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    is_plain = isinstance(statement, (ast.Assign, ast.AnnAssign)) and len(targets) == 1
    return is_plain and isinstance(targets[0], ast.Name) and targets[0].id == name and statement.value is not None


def find_constant(tree, use):
    """Returns (statement, "") if `use`, a node ast.Name, is the only use of an integer that one statement of the module
    assigns, and no other code of the file can change it. Otherwise (None, reason); "" is for a name that this module does not
    assign at its top level."""
    name = use.id
    statements = [statement for statement in tree.body if _is_assignment(statement, name)]
    if not statements:
        return None, ""
    nodes = list(ast.walk(tree))
    names = [node for node in nodes if isinstance(node, ast.Name) and node.id == name]
    changes = sum(not isinstance(node.ctx, ast.Load) for node in names)
    uses = len(names) - changes
    statement = statements[0]
    if changes > 1 or any(name in _bound_names(node) for node in nodes):
        return None, f"{name} has another meaning or value in the file"
    if type(getattr(statement.value, "value", None)) is not int:
        return None, f"{name} is no literal integer"
    if uses > 1:
        return None, f"{name} is used {uses} times"
    # A text is in __all__, or in what getattr() is given.
    if any(getattr(node, "value", None) == name for node in nodes if isinstance(node, ast.Constant)):
        return None, f"{name} is also given by a text"
    if any(_can_change_any_name(node, statement) for node in nodes):
        return None, f"other code of the file may change {name}"
    return statement, ""
