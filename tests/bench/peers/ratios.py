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
    confidence: float  # probability that the true median is between low and high


def _outside(rounds: int, left_out: int) -> float:
    """Probability that the true median is outside the values that remain without `left_out` values at each end."""
    return 2 * sum(math.comb(rounds, count) for count in range(left_out + 1)) / 2**rounds


def median_interval(values: Sequence[float], confidence: float = 0.95) -> Interval:
    """The narrowest pair of values that has this confidence; all of them where they are too few for it."""
    ordered = sorted(values)
    left_out = 0
    while left_out + 1 < (len(ordered) + 1) // 2 and _outside(len(ordered), left_out + 1) <= 1 - confidence:
        left_out += 1
    return Interval(statistics.median(ordered), ordered[left_out], ordered[-1 - left_out],
                    max(0.0, 1 - _outside(len(ordered), left_out)))


def divide_rounds(values: Sequence[float], bases: Sequence[float]) -> List[float]:
    """Ratios of values from the same rounds, in which the state of the machine in a round cancels."""
    if len(values) != len(bases):
        raise ValueError(f"{len(values)} and {len(bases)} rounds are not the same rounds")
    return [value / base for value, base in zip(values, bases)]
