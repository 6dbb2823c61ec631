"""Which nights of a history are normal: those at its settled level.

A change that is new is not normal yet: its nights must not become what tonight is compared with,
or a regression would hide itself. After some nights it is what users live with, and counts.
"""

from __future__ import annotations

import warnings

import numpy as np
import numpy.typing as npt

from switchpoint.history.dates import costs_before
from switchpoint.tables.sweeps import Floats, Indices

#: A level needs this many nights.
_FEWEST_NIGHTS = 2

#: Histories are searched only if the sum of their deviations wanders further than it does by
#: chance, in units of scatter times the root of the number of nights (Brownian bridge, 99 %), or
#: if the newest nights are off.
_WANDERS = 1.63
_NEWEST = 4
_OFF = 2.5

#: A further level must save this much cost, in units of scatter times the logarithm of the nights.
_PRICE = 4.0

_SD_PER_MAD = 1.4826

#: No scatter is less than this, as a logarithm.
_LEAST_SCATTER = 0.003


def normal_nights(nightly: Floats, after_nights: int) -> npt.NDArray[np.bool_]:
    """Choose for each series the nights that tonight is compared with.

    Parameters
    ----------
    nightly : array of float, shape (series, nights)
        NaN where there is no value. The last night is tonight, which is not chosen.
    after_nights
        A level is normal after so many nights.

    Returns
    -------
    array of bool, shape (series, nights)
    """
    past = nightly[:, :-1]
    chosen = np.ones(nightly.shape, dtype=bool)
    chosen[:, -1] = False
    for row in _suspicious(past):
        there = np.flatnonzero(np.isfinite(past[row]))
        first, last = _normal_level(past[row, there], after_nights)
        chosen[row] = False
        chosen[row, there[first:last]] = True
    return chosen


def _suspicious(past: Floats) -> Indices:
    """Return the series that may have more than one level."""
    if past.shape[1] < 2 * _FEWEST_NIGHTS:
        return np.zeros(0, dtype=np.intp)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        off = past - np.nanmedian(past, axis=1)[:, None]
        steps = np.abs(np.diff(past, axis=1))
        # Steps from night to night show the scatter even if there are levels.
        scale = _SD_PER_MAD * np.nanmedian(steps, axis=1) / np.sqrt(2)
        newest = np.nanmedian(off[:, -_NEWEST:], axis=1)
    scale = np.maximum(np.nan_to_num(scale), _LEAST_SCATTER)[:, None]
    off = np.clip(np.nan_to_num(off) / scale, -3, 3)
    sums = np.cumsum(off - off.mean(axis=1)[:, None], axis=1)
    wanders = np.abs(sums).max(axis=1) / np.sqrt(past.shape[1]) > _WANDERS
    return np.flatnonzero(wanders | (np.abs(newest) > _OFF * scale[:, 0]))


def _normal_level(values: Floats, after_nights: int) -> tuple[int, int]:
    """Return the first night of the normal level, and the night after its last."""
    edges = levels(values)
    starts, ends = edges[:-1], edges[1:]
    old = [
        (first, last)
        for first, last in zip(starts, ends, strict=True)
        if len(values) - first >= after_nights or first == 0
    ]
    # Single disturbed nights make levels that are too short to be normal.
    long = [(first, last) for first, last in old if last - first > _FEWEST_NIGHTS]
    return (long or old)[-1]


def levels(values: Floats) -> list[int]:
    """Divide a series into levels: the first night of each, and the number of nights.

    Dynamic programming over all divisions. The cost of a level is the sum of the distances from its
    median, which single disturbed nights hardly change (as in airspeed velocity's `step_detect`).
    """
    count = len(values)
    steps = np.abs(np.diff(values))
    scale = (
        max(_SD_PER_MAD * float(np.median(steps)) / np.sqrt(2), _LEAST_SCATTER) if count > 1 else 1
    )
    price = _PRICE * scale * np.log(max(count, 2))
    best = np.r_[0.0, np.full(count, np.inf)]
    came_from = np.zeros(count + 1, dtype=int)
    for first in range(count):
        total = best[first] + costs_before(values[first:]) + price
        total[: _FEWEST_NIGHTS - 1] = np.inf if count >= _FEWEST_NIGHTS else total[0]
        better = total < best[first + 1 :]
        best[first + 1 :][better] = total[better]
        came_from[first + 1 :][better] = first
    edges = [count]
    while edges[-1] > 0:
        edges.append(int(came_from[edges[-1]]))
    return edges[::-1]
