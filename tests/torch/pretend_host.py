"""A host that this process joins, and the spans that it tells it: the layout of src/guest/protocol/page.h."""

import mmap
import os
import socket
import struct
from typing import List, NamedTuple

_VERSION = 5
_PAGE, _RING = 64, 192  # bytes of what stands before rings, and before the entries of each
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
    def __init__(self, folder: str) -> None:
        self._spans_at = _PAGE + _RING + _FACTS * _FACT_BYTES
        size = self._spans_at + _RING + _SPANS * _ENTRY.size + _RING + _GPU_RECORDS * _GPU_RECORD_BYTES
        self._descriptor = os.memfd_create("page")
        os.ftruncate(self._descriptor, size)
        self._page = mmap.mmap(self._descriptor, size)
        self._page[:12] = struct.pack("=III", _VERSION, 0, 1)
        self._taken = 0
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listens:
            listens.bind(os.path.join(folder, "host"))
            listens.listen(1)
            if os.fork() == 0:  # who joins waits for the answer with the interpreter's lock
                self._answer(listens)
                os._exit(0)

    def _answer(self, listens: socket.socket) -> None:
        line, _ = listens.accept()
        line.recv(1 << 18)
        socket.send_fds(line, [b" "], [self._descriptor])
        while line.recv(1 << 18):
            pass

    def time_stages(self, wanted: bool) -> None:
        self._page[8:12] = struct.pack("=I", wanted)

    def take_spans(self) -> List[Span]:
        """Since the last call."""
        (head,) = struct.unpack_from("=q", self._page, self._spans_at)
        entries = [_ENTRY.unpack_from(self._page, self._spans_at + _RING + index % _SPANS * _ENTRY.size)
                   for index in range(self._taken, head)]
        self._taken = head
        self._page[self._spans_at + 64 : self._spans_at + 72] = struct.pack("=q", head)  # there is room again
        return [Span(*entry) for entry in entries]
