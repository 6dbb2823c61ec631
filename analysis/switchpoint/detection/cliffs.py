"""Finds neighbouring sizes whose times differ by far more than noise and slope explain.

A cliff lies in a boundary that the search reports. If the search reports none there, the cliff is
reported by itself: nothing that anyone sees in the table of times may be missing.
"""

from __future__ import annotations

import numpy as np

from switchpoint.tables.sweeps import Floats, Indices

#: Smaller relative changes are no cliffs.
SMALLEST_CLIFF = 0.5

#: A cliff is this many times the noise of the difference. Between 200 sizes, normal noise shows
#: one in a curve of 700.
_ERRORS = 4.5


def cliffs(size: Floats, time: Floats, noise: Floats) -> list[int]:
    """Find the first size after each cliff.

    Parameters
    ----------
    size, time, noise : array of float, shape (n,)
        Bytes, ascending, each once; microseconds; relative standard errors.

    Returns
    -------
    list of int
        Indices. A slope explains what the steeper side of the gap would add over the gap. A side
        is the line to the nearest size that is at least half a gap away: sizes a byte apart tell
        nothing of the slope.
    """
    last = len(size) - 1
    gap = np.diff(size)
    before, after = np.arange(last), np.arange(1, last + 1)
    left = np.searchsorted(size, size[before] - gap / 2, side="right") - 1
    right = np.searchsorted(size, size[after] + gap / 2)
    slope = np.maximum(
        np.where(left >= 0, _slope(size, time, np.maximum(left, 0), before), 0.0),
        np.where(right <= last, _slope(size, time, after, np.minimum(right, last)), 0.0),
    )
    above = time[after] / (time[before] + np.maximum(slope, 0.0) * gap)
    below = time[before] / time[after]
    change = np.maximum(above, below)
    error = np.hypot(noise[before], noise[after])
    found = (change >= 1 + SMALLEST_CLIFF) & (np.log(change) >= _ERRORS * error)
    return [int(place) for place in after[found]]


def _slope(size: Floats, time: Floats, first: Indices, last: Indices) -> Floats:
    """Return the slopes between pairs of sizes; of a size with itself 0."""
    return (time[last] - time[first]) / np.maximum(size[last] - size[first], 1.0)
