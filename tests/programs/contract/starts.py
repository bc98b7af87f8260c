"""Programs whose imports or command lines matter: each is a new Python."""

import os
import sys

NEEDS = "torch"
PROCESSES = "fresh"


def runs_itself_again():
    from torch.utils.data import DataLoader

    batches = [batch.tolist() for batch in DataLoader(list(range(8)), 4)]
    if os.environ.get("AGAIN"):
        return "again", batches
    os.environ["AGAIN"] = "1"
    os.execv(sys.executable, [sys.executable, *sys.argv])


def warnings_are_errors_from_the_start():
    if not sys.warnoptions:
        os.execv(sys.executable, [sys.executable, "-W", "error::UserWarning", "-W", "error::ResourceWarning", *sys.argv])
    from torch.utils.data import DataLoader

    return sys.warnoptions, [[batch.tolist() for batch in DataLoader(list(range(8)), 4, num_workers=workers)] for workers in (0, 1)]


def sub_interpreters_run():
    try:
        import _interpreters as subs
    except ImportError:
        import _xxsubinterpreters as subs
    code = "import gzip, zlib, sys; assert zlib.decompress(zlib.compress(b'a')) == b'a'; print(type(zlib.decompress), len(sys.path) > 0)"
    subs.run_string(subs.create(), code + "; sys.stdout.flush()")
    from torch.utils.data import DataLoader

    subs.run_string(subs.create(), "open('/dev/null', 'rb').read()")
    return [batch.tolist() for batch in DataLoader(list(range(8)), 4)]


def programs_without_torch():
    import gzip
    import subprocess

    code = "import zlib, numpy, json; print(type(zlib.decompress).__module__, json.dumps([1]))"
    return gzip.decompress(gzip.compress(b"a")), subprocess.run([sys.executable, "-c", "print(1)"], stdout=subprocess.PIPE).stdout, \
        len(subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE).stdout) > 0
