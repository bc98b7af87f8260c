"""Medians and their intervals, without an assumption on how the values are distributed."""

import dataclasses
import math
import statistics
from typing import List, Sequence


@dataclasses.dataclass(frozen=True)
class Interval:
    median: float
    low: float
    high: float
    confidence: float  # that the median of all rounds there could be lies within


def _outside(rounds: int, left_out: int) -> float:
    """How often the median lies beyond the values that remain when `left_out` are left out at each end."""
    return 2 * sum(math.comb(rounds, count) for count in range(left_out + 1)) / 2**rounds


def median_of(values: Sequence[float], confidence: float = 0.95) -> Interval:
    """The narrowest pair of values that has this confidence; all of them where they are too few for it."""
    ordered = sorted(values)
    left_out = 0
    while left_out + 1 < (len(ordered) + 1) // 2 and _outside(len(ordered), left_out + 1) <= 1 - confidence:
        left_out += 1
    return Interval(statistics.median(ordered), ordered[left_out], ordered[-1 - left_out],
                    max(0.0, 1 - _outside(len(ordered), left_out)))


def by_round(of: Sequence[float], to: Sequence[float]) -> List[float]:
    """Both were measured in the same rounds: what the machine did in a round cancels."""
    if len(of) != len(to):
        raise ValueError(f"{len(of)} and {len(to)} rounds are not the same rounds")
    return [one / other for one, other in zip(of, to)]
