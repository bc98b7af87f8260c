"""Files that this process opens, folders that it lists, and its requests to servers. They are counted until its first
batch, and from then on. In a trainer with workers, the first period ends when its loader begins. A request is
counted when its answer begins, or when no answer comes."""

import multiprocessing.util
import os
from collections import OrderedDict
from typing import Any, Dict, List, Optional

from loaderscope_guest import library, messages
from loaderscope_guest.counters import counters
from loaderscope_guest.user_code import spending

FILES, MODULES, LISTINGS, BATCHES = range(4)  # the library's numbers
_LISTING = "list "  # prefix of a folder's name
_WANTS_FEWER = (429, 503)
_IS_TRIED_AGAIN = _WANTS_FEWER + (500, 502, 504)
_MOST_NAMES = 1000  # names kept until the first batch
_MOST_SAID = 100
_MOST_UNANSWERED = 1000


class Traffic:
    def __init__(self) -> None:
        self._is_on = False
        self.forget()
        os.register_at_fork(after_in_child=self._begin_in_child)

    def _begin_in_child(self) -> None:
        self.forget()
        if self._is_on:
            self.listen()

    def forget(self) -> None:
        self.requests = self.throttled = self.retries = self.failed = self.bytes = self.spent = 0
        self._unanswered: "OrderedDict[str, bool]" = OrderedDict()  # requests that may be retried
        self._first: Optional[Dict[str, int]] = None
        self._said: Dict[str, int] = {}
        self._names: Dict[str, None] = {}  # set of names in the order of their arrival
        self._listens = False

    def listen(self) -> None:
        """To the names of what is opened, until the first batch."""
        self._is_on = self._listens = True
        library.watch_opens(self._note_path)

    def _note_path(self, path: Any, what: int) -> None:
        name = os.fsdecode(path)
        if "://" not in name:  # abspath() would leave one slash of a URL, and the host could not hide its password
            name = os.path.abspath(name)
        self._note((_LISTING if what == LISTINGS else "") + name)

    def _note(self, name: str) -> None:
        if self._first is not None:
            return
        self._names[name] = None
        if len(self._names) >= _MOST_NAMES and self._listens:
            self._listens = False
            library.watch_opens(None)

    def answered(self, request: str, status: Optional[int], size: Optional[int], spent: int) -> None:
        """`request`: method and address. `status`: None where there was no answer. `spent`: ns."""
        self.requests += 1
        self.retries += self._unanswered.pop(request, False)
        self.throttled += status in _WANTS_FEWER
        self.failed += status is None
        self.bytes += size or 0
        self.spent += spent
        if status is None or status in _IS_TRIED_AGAIN:
            self._unanswered[request] = True
            if len(self._unanswered) > _MOST_UNANSWERED:
                self._unanswered.popitem(last=False)
        if self._first is None and len(self._names) < _MOST_NAMES:
            self._note(request.partition("?")[0])

    def _counts(self) -> Dict[str, int]:
        opened = library.opened
        return {"opens": opened(FILES), "modules": opened(MODULES), "listings": opened(LISTINGS),
                "requests": self.requests, "throttled": self.throttled, "retries": self.retries, "failed": self.failed,
                "bytes": self.bytes, "spent": self.spent}

    def say(self) -> None:
        """The first time: that what comes first is over."""
        if not library.flags.is_joined():
            return
        with messages.never_failing("what a process opens is"):
            counts = self._counts()
            if self._first is None:
                self._first = counts
                self._put_first(counts, self._take_names())
                multiprocessing.util.Finalize(None, self.say, exitpriority=0)
            if counts != self._said:
                self._said = counts
                self._put(counts, self._first)
                counters.send()

    def _put_first(self, first: Dict[str, int], names: List[str]) -> None:
        role = library.flags.role
        counters.put(f"opens.{role}_first", first["opens"])
        counters.put(f"opens.{role}_first_modules", first["modules"])
        counters.put(f"opens.{role}_first_listings", first["listings"])
        counters.put(f"requests.{role}_first", first["requests"])
        counters.put(f"requests.{role}_first_s", first["spent"] * 1e-9)
        if library.flags.is_worker():
            counters.put("opens.same", len(names), parts=dict.fromkeys(names, 1))

    def _put(self, counts: Dict[str, int], first: Dict[str, int]) -> None:
        batches = max(0, library.opened(BATCHES) - 1)  # batches after the first
        for name in ("opens", "requests"):
            counters.put(f"{name}.per_sample", counts[name] - first[name] if batches else 0, batches)
        counters.put("requests.count", counts["requests"])
        for name in ("bytes", "throttled", "retries", "failed"):
            counters.put(f"requests.{name}", counts[name])

    def _take_names(self) -> List[str]:
        if self._listens:
            self._listens = False
            library.watch_opens(None)
        names, self._names = list(self._names)[:_MOST_SAID], {}
        return names


traffic = Traffic()


def install() -> None:
    """Once PyTorch, or another loader, is there."""
    traffic.listen()
    spending.also.append(traffic.say)
