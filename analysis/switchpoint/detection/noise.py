"""Estimates the noise of each point of a curve: from its repeats and from its neighbours."""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from switchpoint.detection.outliers import off_alone
from switchpoint.tables.sweeps import Floats

#: The relative noise is at least this: below it curves do not consist of lines.
NOISE_FLOOR = 0.005

#: Scatter is estimated from this quantile of absolute values, and its value for a normal
#: distribution.
_QUANTILE = 0.4
_NORMAL_QUANTILE = 0.5244

#: The share of the scatter between sizes that counts as noise. With repeats it is smaller, because
#: curves that bend between steps look scattered if sizes are far apart. Without repeats it is
#: larger, because it is the only estimate, from few points.
_SCATTER_SHARE = 0.5
_SCATTER_SHARE_ALONE = 1.1
_FOR_FEW = 1.0

#: Standard error of a median, in median absolute deviations over the square root of their number.
_ERROR_OF_MEDIAN = 1.86


def point_noise(
    size: Floats, time: Floats, standard_error: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return the relative noise of each point, from repeats and from size to size.

    Errors estimated from few repeats are sometimes much too small, so each is at least the curve's
    median error. The scatter from size to size is the distance of each point from the straight line
    between its neighbours, at a low quantile because both sides of every step are far from it. A
    single point that lies off the lines through its neighbours on both sides gets its deviation as
    noise. The result of `off_alone` is also returned.
    """
    off, left, right = off_the_neighbours(size, time)
    usual = float(np.median(standard_error))
    # Few repeats and few sizes leave this uncertain too; its own scatter shows by how much.
    usual += _ERROR_OF_MEDIAN * float(np.median(np.abs(standard_error - usual))) / len(size) ** 0.5
    variance = np.maximum(standard_error, usual) ** 2 + NOISE_FLOOR**2
    # For each guess of the scatter: the deviation of the points in units of the implied noise.
    guesses = np.r_[0.0, np.geomspace(NOISE_FLOOR, 1.0, 40)][:, None]
    total = variance + guesses**2
    expected = np.sqrt(total[:, 1:-1] + left**2 * total[:, :-2] + right**2 * total[:, 2:])
    off_in_noise = np.quantile(np.abs(off) / expected, _QUANTILE, axis=1)
    scatter = float(np.interp(0.0, _NORMAL_QUANTILE - off_in_noise, guesses[:, 0]))
    scatter *= _SCATTER_SHARE if usual > 0 else _SCATTER_SHARE_ALONE + _FOR_FEW / len(size) ** 0.5
    noise = np.sqrt(variance + scatter**2) * np.maximum(_level(time) / time, 1.0)
    change, errors = off_alone(size, time, noise)
    return noise, change, errors


def _level(time: Floats) -> Floats:
    """Return each time, or what it should at least be: the medians of three and of five around it.

    Otherwise times that are much too low by chance would have little noise.
    """
    first, last = max(time[0], time[1:3].min()), max(time[-1], time[-3:-1].min())
    level = np.r_[first, np.median(sliding_window_view(time, 3), axis=1), last]
    level[2:-2] = np.maximum(level[2:-2], np.median(sliding_window_view(time, 5), axis=1))
    return np.asarray(level)


def off_the_neighbours(size: Floats, time: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the relative distance of inner points from their neighbours' chord, and its weights.

    All have shape (n - 2,). The weights are what the neighbour on either side adds to the chord,
    relative to the point's time; the distance is 1 less both.
    """
    share = np.diff(size)[1:] / (size[2:] - size[:-2])
    left = share * time[:-2] / time[1:-1]
    right = (1 - share) * time[2:] / time[1:-1]
    return 1 - left - right, left, right
