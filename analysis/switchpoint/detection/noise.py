"""Estimates the noise of each point of a curve: from its repeats and from its neighbours."""

from __future__ import annotations

import numpy as np

from switchpoint.detection.outliers import off_alone
from switchpoint.tables.sweeps import Floats

#: Noise never counts as smaller than this, relative: below it curves are not made of lines.
NOISE_FLOOR = 0.005

#: Scatter is read at this quantile of absolute values, and its place in a normal distribution.
_QUANTILE = 0.4
_NORMAL_QUANTILE = 0.5244

#: Where repeats tell the noise, so much of the scatter between sizes counts as noise too: curves
#: that bend between steps look scattered where sizes are far apart. Where it is all that tells the
#: noise, it counts for more, being read from few points.
_SCATTER_SHARE = 0.5
_SCATTER_SHARE_ALONE = 1.2


def point_noise(
    size: Floats, time: Floats, standard_error: Floats
) -> tuple[Floats, Floats, Floats]:
    """Relative noise of each point: the repeats' own and what differs from size to size.

    Errors estimated from few repeats are now and then far too small: no point counts as surer than
    the curve's points usually are. What differs from size to size is read from how far each point
    lies from the straight line between its neighbours, at a low quantile because both sides of
    every step are far from it. A point that alone is off the lines through its neighbours on either
    side is given the noise that it shows. Returned with what `off_alone` found.
    """
    off, left, right = _off_the_neighbours(size, time)
    variance = np.maximum(standard_error, np.median(standard_error)) ** 2 + NOISE_FLOOR**2
    # For each guess of the scatter, how far the points are off in units of the noise it implies.
    guesses = np.r_[0.0, np.geomspace(NOISE_FLOOR, 1.0, 40)][:, None]
    total = variance + guesses**2
    expected = np.sqrt(total[:, 1:-1] + left**2 * total[:, :-2] + right**2 * total[:, 2:])
    off_in_noise = np.quantile(np.abs(off) / expected, _QUANTILE, axis=1)
    scatter = float(np.interp(0.0, _NORMAL_QUANTILE - off_in_noise, guesses[:, 0]))
    scatter *= _SCATTER_SHARE if np.median(standard_error) > 0 else _SCATTER_SHARE_ALONE
    noise = np.sqrt(variance + scatter**2)
    change, errors = off_alone(size, time, noise)
    return np.maximum(noise, np.abs(change)), change, errors


def _off_the_neighbours(size: Floats, time: Floats) -> tuple[Floats, Floats, Floats]:
    """Relative distance of inner points from the chord of their neighbours, and its two weights."""
    share = np.diff(size)[1:] / (size[2:] - size[:-2])
    left = share * time[:-2] / time[1:-1]
    right = (1 - share) * time[2:] / time[1:-1]
    return 1 - left - right, left, right
