"""Integer nanoseconds of CLOCK_MONOTONIC, as everywhere in loaderscope."""

from time import monotonic_ns as now

__all__ = ["now"]
