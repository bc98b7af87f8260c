"""Decides if this interpreter is measured. It loads no other module of ours."""

import sys


def is_main() -> bool:
    """Returns False in a sub-interpreter. Our library exists once in the process and belongs to the main interpreter."""
    for name in ("_interpreters", "_xxsubinterpreters"):  # the first one since Python 3.13
        try:
            module = __import__(name)
            numbers = [one[0] if isinstance(one, tuple) else one for one in (module.get_current(), module.get_main())]
        except Exception:
            continue
        return bool(numbers[0] == numbers[1])
    return True


def why_not() -> str:
    """The reason why this Python cannot be measured; "" if it can. Only the global lock ensures that our rings have one writer
    at a time."""
    if getattr(sys, "_is_gil_enabled", lambda: True)():
        return ""
    return "free-threaded Python is not supported; set PYTHON_GIL=1, or use a Python that has the global lock"
