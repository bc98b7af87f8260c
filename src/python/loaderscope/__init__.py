"""loaderscope from Python: the program's answers as the dicts that its --json files hold.

    import sys, loaderscope
    result = loaderscope.run([sys.executable, "train.py"])    # a job, measured from inside
    result["verdict"]["sentence"]

    with loaderscope.watching(loader) as watched:              # this process, looked at from outside
        train(loader)
    watched.result["verdict"]["sentence"]

Callbacks of trainers: loaderscope.lightning, loaderscope.transformers. Notebooks: %load_ext loaderscope.
"""

from ._program import Error, Result, program, run
from ._watching import watching


def load_ipython_extension(shell):
    """%load_ext loaderscope"""
    from ._notebook import load_magics
    load_magics(shell)


__all__ = ["Error", "Result", "program", "run", "watching"]
