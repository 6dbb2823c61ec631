"""Ratios of paired measurements, with their intervals."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike


def median_ratio(ours: ArrayLike, theirs: ArrayLike, seed: int = 0) -> tuple[float, float, float]:
    """Median of the pairs' ratios and its 95 % percentile-bootstrap interval.

    Parameters
    ----------
    ours, theirs : array_like, shape (pairs,)
        Measurements taken in turn, so that drift of the machine cancels.
    """
    ratios = np.asarray(ours, float) / np.asarray(theirs, float)
    draws = np.random.default_rng(seed).integers(0, len(ratios), (2000, len(ratios)))
    low, high = np.percentile(np.median(ratios[draws], axis=1), [2.5, 97.5])
    return float(np.median(ratios)), float(low), float(high)


def ratio_interval(
    ours: ArrayLike,
    theirs: ArrayLike,
    statistic: Callable[[np.ndarray], np.ndarray],
    seed: int = 0,
) -> tuple[float, float, float]:
    """Ratio of a statistic of each side and its 95 % percentile-bootstrap interval.

    Parameters
    ----------
    ours, theirs : array_like, shape (pairs,)
        Measurements taken in turn.
    statistic
        Maps arrays of shape (..., pairs) to shape (...,).
    """
    sides = np.stack([np.asarray(ours, float), np.asarray(theirs, float)])
    draws = np.random.default_rng(seed).integers(0, sides.shape[1], (2000, sides.shape[1]))
    with np.errstate(divide="ignore", invalid="ignore"):  # draws of one pair alone have no spread
        drawn = statistic(sides[0][draws]) / statistic(sides[1][draws])
        ratio = statistic(sides[0]) / statistic(sides[1])
    low, high = np.nanpercentile(drawn, [2.5, 97.5])
    return float(ratio), float(low), float(high)
