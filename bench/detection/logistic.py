"""Logistic regression whose weights of the evidence are at least 0."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import numpy.typing as npt
import pandas as pd

#: A slight ridge, so that a feature that never varies has no weight.
RIDGE = 0.1

#: The weights are known if Newton's step is smaller.
SMALLEST_STEP = 1e-8


def fit(
    features: pd.DataFrame,
    right: npt.NDArray[np.float64],
    counts: npt.NDArray[np.float64],
    never_negative: Collection[str],
) -> dict[str, float]:
    """Fit the weights of features, of which some never lower the odds.

    Parameters
    ----------
    features : DataFrame, shape (n, k)
    right : array of float, shape (n,)
        The share that was right, 0 to 1.
    counts : array of float, shape (n,)
        How much each row counts.
    never_negative
        Names of features whose weight must be at least 0.
    """
    free = [str(name) for name in features]
    while True:
        weights = _newton(features[free].to_numpy(dtype=float), right, counts)
        fitted = dict(zip(free, map(float, weights), strict=True))
        against = [name for name in free if name in never_negative and fitted[name] < 0]
        if not against:
            return {str(name): fitted.get(str(name), 0.0) for name in features}
        free.remove(min(against, key=lambda name: fitted[name]))


def _newton(
    x: npt.NDArray[np.float64], y: npt.NDArray[np.float64], counts: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    weights = np.zeros(x.shape[1])
    for _ in range(50):
        share = 1 / (1 + np.exp(-x @ weights))
        curvature = (x * (counts * share * (1 - share))[:, None]).T @ x
        curvature += RIDGE * np.eye(x.shape[1])
        step = np.linalg.solve(curvature, x.T @ (counts * (y - share)) - RIDGE * weights)
        weights += step
        if np.abs(step).max() < SMALLEST_STEP:
            break
    return weights
