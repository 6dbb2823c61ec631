"""When a change began: the split of a series of nights into two levels that fits best."""

from __future__ import annotations

import bisect
from collections.abc import Sequence

import numpy as np

from switchpoint.tables.sweeps import Floats

#: A date needs this many nights.
_FEWEST_NIGHTS = 4

#: Splits are possible whose cost is within this of the best, in units of the typical scatter of a
#: night: 95 % for Laplace-distributed nights.
_POSSIBLE = 3.0


def began(series: Floats, starts_utc: Sequence[str]) -> tuple[str, ...]:
    """Return when the last night's level began, and the first and last night that are possible.

    Parameters
    ----------
    series : array of float, shape (nights,)
        NaN where there is no value.
    starts_utc
        The start of each night.

    Returns
    -------
    tuple of str
        Empty with too few nights.
    """
    there = np.flatnonzero(np.isfinite(series))
    if len(there) < _FEWEST_NIGHTS:
        return ()
    values = series[there]
    cost = costs_before(values)[:-1] + costs_before(values[::-1])[::-1][1:]
    steps = np.abs(np.diff(values))
    scale = max(float(np.median(steps)), 1e-3)
    splits = np.flatnonzero(cost - cost.min() <= _POSSIBLE * scale)
    best = int(np.argmin(cost))
    first, last = (int(there[split + 1]) for split in (splits[0], splits[-1]))
    return starts_utc[int(there[best + 1])], starts_utc[first], starts_utc[last]


def costs_before(values: Floats) -> Floats:
    """Return for each number of first values the sum of their distances from their median.

    The first entry is that of one value. It is a running median, with the sums of the values below
    and above it.
    """
    ordered: list[float] = []
    found = np.empty(len(values))
    for number, value in enumerate(values.tolist()):
        bisect.insort(ordered, value)
        half = (number + 1) // 2
        found[number] = sum(ordered[number + 1 - half :]) - sum(ordered[:half])
    return found
