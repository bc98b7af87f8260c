"""One thread at a time, where programs use several loaders at once."""

import os
import threading
from typing import Any


class Turn:
    """A lock that the child of a fork finds open, whoever had it."""

    def __init__(self) -> None:
        self._renew()
        os.register_at_fork(after_in_child=self._renew)

    def _renew(self) -> None:
        self._lock = threading.RLock()

    def __call__(self) -> Any:
        """For `with`."""
        return self._lock
