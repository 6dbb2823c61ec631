"""Ratios of paired measurements, with their intervals."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from numpy.typing import ArrayLike

Floats = npt.NDArray[np.float64]

DRAWS = 2000


def median_ratio(ours: ArrayLike, theirs: ArrayLike) -> tuple[float, float, float]:
    """Median of the pairs' ratios and its 95 % interval; arguments as of `ratio_interval`."""
    return ratio_interval(ours, theirs, lambda one, other: np.median(one / other, axis=-1))


def ratio_interval(
    ours: ArrayLike, theirs: ArrayLike, compare: Callable[[Floats, Floats], Floats]
) -> tuple[float, float, float]:
    """Ratio of two sides and its 95 % percentile-bootstrap interval.

    Parameters
    ----------
    ours, theirs : array_like, shape (pairs,) or (cases, pairs)
        Measurements in turn, so that drift of the machine cancels. For several cases the ratio
        is the geometric mean; pairs are drawn within each case.
    compare
        Maps both sides' arrays of shape (..., pairs) to ratios of shape (...).
    """
    sides = np.atleast_2d(np.asarray(ours, float)), np.atleast_2d(np.asarray(theirs, float))
    draws = np.random.default_rng(0).integers(0, sides[0].shape[1], (DRAWS, *sides[0].shape))

    def mean(one: Floats, other: Floats) -> Floats:
        # Draws of a single pair have no spread, so they are ignored.
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.exp(np.log(compare(one, other)).mean(axis=-1)))

    drawn = mean(*(np.take_along_axis(side[None], draws, axis=-1) for side in sides))
    low, high = np.percentile(drawn[np.isfinite(drawn)], [2.5, 97.5])
    return float(mean(*sides)), float(low), float(high)
