"""Runs when a Python starts below `loaderscope run -- COMMAND`: prepares the measuring, then runs the
user's own sitecustomize, which this one hides."""

import os
import sys


def _prepare() -> None:
    folder = os.environ.get("LOADERSCOPE_GUEST")
    if not folder:
        return
    try:
        os.close(os.open(f"{folder}/seen/{os.getpid()}", os.O_CREAT | os.O_WRONLY, 0o600))
        from loaderscope_guest import file_trace, install

        file_trace.begin()
        install.begin()
    except Exception as error:  # measuring must never break the program that is measured
        sys.stderr.write(f"loaderscope: this Python is not measured ({error!r})\n")


def _run_the_hidden_one() -> None:
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec

    here = os.path.dirname(os.path.abspath(__file__))
    paths = [path for path in sys.path if os.path.abspath(path or ".") != here]
    spec = PathFinder.find_spec("sitecustomize", paths)
    if spec is not None and spec.loader is not None:
        sys.modules[__name__] = module_from_spec(spec)
        spec.loader.exec_module(sys.modules[__name__])


_prepare()
_run_the_hidden_one()
