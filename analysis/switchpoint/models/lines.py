"""Fits Hockney's line, time = start + bytes * time per byte, to measured times."""

from __future__ import annotations

import numpy as np

from switchpoint.tables.student import SD_PER_MAD
from switchpoint.tables.sweeps import Floats

#: Relative errors beyond this many of their typical size count less (Huber 1981, for 95 % of the
#: efficiency of least squares with normal errors).
_HUBER = 1.345

_ROUNDS = 10

#: Errors below this share of the time are rounding, and all sizes count the same.
_LEAST_ERROR = 1e-9


def fit_lines(size_bytes: Floats, times_us: Floats) -> tuple[Floats, Floats]:
    """Fit a line to each row of times, with robust least squares of the relative error.

    Parameters
    ----------
    size_bytes : array of float, shape (n,)
        Message sizes, at least two of them different.
    times_us : array of float, shape (rows, n)
        Positive times; NaN where a row has no time.

    Returns
    -------
    start_us, per_byte_us : array of float, shape (rows,)
        The lines. The slope is never negative. The start may be, in a segment that begins far from
        0 bytes: it is where the segment's line meets 0 bytes. NaN for a row without any time.
    """
    known = np.isfinite(times_us)
    rows = known.any(axis=1)
    if not rows.all():
        lines = np.full((2, len(times_us)), np.nan)
        lines[:, rows] = fit_lines(size_bytes, times_us[rows])
        return lines[0], lines[1]
    median = np.median if known.all() else np.nanmedian  # which takes a hundred times as long
    times = np.where(known, times_us, 1.0)
    weight = np.where(known, times**-2.0, 0.0)
    start, slope = _weighted(size_bytes, times, weight)
    for _ in range(_ROUNDS):
        error = np.abs(start[:, None] + slope[:, None] * size_bytes - times) / times
        typical = SD_PER_MAD * median(np.where(known, error, np.nan), axis=1)
        allowed = _HUBER * np.maximum(typical, _LEAST_ERROR)[:, None]
        factor = np.where(error > allowed, allowed / np.maximum(error, allowed), 1.0)
        start, slope = _weighted(size_bytes, times, weight * factor)
    return start, slope


def _weighted(size: Floats, times: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Return the lines of weighted least squares whose slope is not negative."""
    total = weight.sum(axis=1)
    middle = (weight * size).sum(axis=1) / total
    level = (weight * times).sum(axis=1) / total
    away = size - middle[:, None]
    spread = (weight * away**2).sum(axis=1)
    moment = (weight * away * times).sum(axis=1)
    slope = np.maximum(np.divide(moment, spread, out=np.zeros_like(moment), where=spread > 0), 0.0)
    return level - slope * middle, slope
