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
