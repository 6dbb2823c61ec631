"""Finds neighbouring sizes whose times differ by far more than noise and slope explain.

A cliff lies in a boundary that the search reports. If the search reports none there, the cliff is
reported by itself: nothing that anyone sees in the table of times may be missing.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from switchpoint.tables.sweeps import Floats, Indices

#: Smaller relative changes are no cliffs.
SMALLEST_CLIFF = 0.5

#: A cliff is this many times the noise of the difference. Between 200 sizes, normal noise shows
#: one in a curve of 700. Without repeats the noise may be larger than what is taken for it. A
#: difference that is less certain, but has this many times the noise, may be a cliff or noise.
CERTAIN = 4.5
CERTAIN_ALONE = 6.0
POSSIBLE = 3.0


def cliffs(
    size: Floats,
    time: Floats,
    noise: Floats,
    reported: npt.NDArray[np.bool_],
    *,
    errors: float,
) -> list[int]:
    """Find the first size after each cliff.

    Parameters
    ----------
    size, time, noise : array of float, shape (n,)
        Bytes, ascending, each once; microseconds; relative standard errors.
    reported : array of bool, shape (n,)
        Whether a reported bracket contains the place just before each size.
    errors : float
        How many times the noise of the difference a cliff must be.

    Returns
    -------
    list of int
        Indices. A slope explains what the steeper side of the gap would add over the gap. A side
        is the line to the nearest size that is at least half a gap away: sizes a byte apart say
        nothing of the slope. If a boundary lies between the two, the side is the next line beyond
        it: what another jump adds is no slope.
    """
    last = len(size) - 1
    gap = np.diff(size)
    before, after = np.arange(last), np.arange(1, last + 1)
    left = np.searchsorted(size, size[before] - gap / 2, side="right") - 1
    right = np.searchsorted(size, size[after] + gap / 2)
    boundaries = np.cumsum(reported, dtype=np.intp)
    from_left = _slopes(size, time, left, before, boundaries)
    from_right = _slopes(size, time, after, right, boundaries)[::-1]
    after_it = _nearest(from_right)[::-1]
    slope = np.maximum(_nearest(from_left), after_it)
    # A single size after a boundary has no slope: if none is known after it either, its time may
    # grow as its size does.
    alone = reported[before] & (after_it == 0)
    slope = np.where(alone, np.maximum(slope, time[before] / np.maximum(size[before], 1)), slope)
    above = time[after] / (time[before] + slope * gap)
    below = time[before] / time[after]
    change = np.maximum(above, below)
    least = errors * np.hypot(noise[before], noise[after])
    is_cliff = (change >= 1 + SMALLEST_CLIFF) & (np.log(change) >= least) & ~reported[after]
    return [int(place) for place in after[is_cliff]]


def _slopes(
    size: Floats, time: Floats, first: Indices, last: Indices, boundaries: Indices
) -> Floats:
    """Return the slopes between pairs of sizes; NaN across a boundary and beyond the ends."""
    first_there, last_there = np.maximum(first, 0), np.minimum(last, len(size) - 1)
    slope = (time[last_there] - time[first_there]) / (size[last_there] - size[first_there] + 1e-9)
    known = (first_there < last_there) & (boundaries[first_there] == boundaries[last_there])
    known &= (first_there == first) & (last_there == last)
    return np.where(known, slope, np.nan)


def _nearest(slope: Floats) -> Floats:
    """Return for each place the slope there or the last known one before it; not below 0."""
    place = np.maximum.accumulate(np.where(np.isnan(slope), -1, np.arange(len(slope))))
    return np.where(place < 0, 0.0, np.maximum(slope[place], 0.0))
