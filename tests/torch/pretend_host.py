"""A host that this process joins, and the spans that it reports: the layout of src/guest/protocol/page.h."""

import mmap
import os
import socket
import struct
from typing import List, NamedTuple

_PAGE, _RING = 64, 192  # bytes before the rings, and before the entries of each
_FACTS, _FACT_BYTES = 1 << 12, 72
_SPANS, _ENTRY = 1 << 14, struct.Struct("=8x7qB23x")  # begin, end, CPU, queued, batch, sample, bytes; stage
_GPU_RECORDS, _GPU_RECORD_BYTES = 1 << 15, 32


class Span(NamedTuple):
    begin: int
    end: int
    cpu: int
    queued: int
    batch: int
    sample: int
    bytes: int
    stage: int


class PretendHost:
    """Takes in the process that joins first, once something of it is asked for."""

    def __init__(self, folder: str) -> None:
        self._listens = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._listens.bind(os.path.join(folder, "host"))
        self._listens.listen(1)
        self._spans_at = _PAGE + _RING + _FACTS * _FACT_BYTES
        self._size = self._spans_at + _RING + _SPANS * _ENTRY.size + _RING + _GPU_RECORDS * _GPU_RECORD_BYTES
        self._taken = 0

    def _page_of_member(self) -> mmap.mmap:
        if self._member_page is None:
            self._line, _ = self._listens.accept()
            _, (descriptor,), _, _ = socket.recv_fds(self._line, 1 << 18, 1)
            self._member_page = mmap.mmap(descriptor, self._size)
            os.close(descriptor)
            self._line.setblocking(False)
        self._take_messages()
        return self._member_page

    _member_page = None

    def _take_messages(self) -> None:
        try:
            while self._line.recv(1 << 18):
                pass
        except BlockingIOError:
            pass

    def time_stages(self, wanted: bool) -> None:
        self._page_of_member()[8:12] = struct.pack("=I", wanted)

    def take_spans(self) -> List[Span]:
        """Since the last call."""
        page = self._page_of_member()
        (head,) = struct.unpack_from("=q", page, self._spans_at)
        entries = [_ENTRY.unpack_from(page, self._spans_at + _RING + index % _SPANS * _ENTRY.size)
                   for index in range(self._taken, head)]
        self._taken = head
        page[self._spans_at + 64 : self._spans_at + 72] = struct.pack("=q", head)  # there is room again
        return [Span(*entry) for entry in entries]
