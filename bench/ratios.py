"""Ratios of paired measurements, with their intervals."""

from __future__ import annotations

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
