"""A number that was measured many times: its middle, where the middle half lies, and the least."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

Spread = dict[str, float]

_DIGITS = 5


def spread(values: Sequence[float]) -> Spread:
    """Median, lower and upper quartile, least, and of how many; of digits no more than mean something."""
    low, median, high = statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else [values[0]] * 3
    found = {"median": median, "low": low, "high": high, "min": min(values)}
    return {**{name: rounded(value) for name, value in found.items()}, "runs": len(values)}


def rounded(value: float) -> float:
    """To a few significant digits: more would pretend."""
    return float(f"{value:.{_DIGITS}g}")
