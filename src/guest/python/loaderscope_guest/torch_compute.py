"""Compute of a step of loaderscope's trainer on a GPU, as long as --compute: a kernel that spins, or products of
matrices."""

import math
import statistics
from typing import Any

_SMALLEST, _LARGEST = 512, 8192  # rows of what is multiplied
_PRODUCTS = 64  # minimum number of products in a step
_TRIES = 5
_CALIBRATED_MS = 20.0
_SETTLES_MS = 500.0  # an idle GPU has a fraction of its clock rate
_CORRECTED = 10  # steps


class Compute:
    """Work of a given time on the current stream."""

    def __init__(self, torch: Any, products: bool, step_ns: float = 0) -> None:
        self._torch = torch
        self._products = products
        if products:
            self._choose_matrices(step_ns)
        self._per_ns = self._calibrated()  # cycles or products
        self._to_correct = _CORRECTED if products else 0

    def _make_matrices(self, rows: int) -> None:
        self._matrix = self._torch.ones(rows, rows, device="cuda", dtype=self._torch.bfloat16)
        self._result = self._torch.empty_like(self._matrix)

    def _choose_matrices(self, step_ns: float) -> None:
        """Chooses the largest matrices of which enough fit into a step. The GPU then keeps working while launching
        waits for Python's lock."""
        rows = _SMALLEST
        self._make_matrices(rows)
        while rows < _LARGEST:
            self._make_matrices(2 * rows)
            self._time(1)
            if self._time(_TRIES) / _TRIES * 1e6 * _PRODUCTS > step_ns:
                self._make_matrices(rows)
                return
            rows *= 2

    def _run(self, amount: int) -> None:
        if self._products:
            for _ in range(amount):
                self._torch.mm(self._matrix, self._matrix, out=self._result)
        else:
            self._torch.cuda._sleep(amount)

    def _time(self, amount: int) -> float:
        begin, end = (self._torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        self._run(amount)
        end.record()
        end.synchronize()
        return begin.elapsed_time(end)

    def _calibrated(self) -> float:
        """The first run wakes the GPU; more and more, until it takes long enough to be measured. Products are timed as
        often as lets the clock settle."""
        amount = 1 if self._products else 100_000
        self._time(amount)
        while True:
            ms = self._time(amount)
            if ms >= _CALIBRATED_MS:
                break
            amount = math.ceil(amount * (2 if ms < _CALIBRATED_MS / 2 else _CALIBRATED_MS / ms * 1.1))
        more = math.ceil(_SETTLES_MS / ms) if self._products else 0
        times = [ms] + [self._time(amount) for _ in range(more)]
        return amount / (statistics.median(times[-_TRIES:]) * 1e6)

    def launch(self, ns: float) -> int:
        """Starts the compute and returns its amount."""
        amount = max(1, round(ns * self._per_ns)) if ns > 0 else 0
        self._run(amount)
        return amount

    def correct(self, amount: int, took_ns: float) -> None:
        """Corrects the speed in the first steps, each time by up to half of the way. A GPU's clock is faster with
        pauses between steps."""
        if self._to_correct > 0 and amount > 0 and took_ns > 0:
            self._to_correct -= 1
            seen = min(max(amount / took_ns, self._per_ns / 2), self._per_ns * 2)
            self._per_ns = (self._per_ns + seen) / 2
