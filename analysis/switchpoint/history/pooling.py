"""The variance of similar series together, for series with few nights of their own."""

from __future__ import annotations

import math

import numpy as np

from switchpoint.tables.student import SD_PER_MAD
from switchpoint.tables.sweeps import Floats

#: A pooled variance counts at most like one of so many degrees of freedom.
MOST_PRIOR = 30.0


def pooled_variance(variance: Floats, freedom: Floats) -> tuple[float, float]:
    """Return the typical variance of similar series, and how many degrees of freedom it is worth.

    If the series' variances differ by no more than chance, one is as good as the other, and the
    typical one is worth a lot.
    """
    logs = np.log(variance) - _log_chi(freedom)
    centre = float(np.median(logs))
    spread = (SD_PER_MAD * float(np.median(np.abs(logs - centre)))) ** 2
    rest = spread - _trigamma(float(np.median(freedom)) / 2)
    worth = MOST_PRIOR if rest <= 0 else min(2 * _inverse_trigamma(rest), MOST_PRIOR)
    return math.exp(centre + (_log_chi(np.array([worth]))[0] if worth < MOST_PRIOR else 0)), worth


def _log_chi(freedom: Floats) -> Floats:
    """Return the median of the logarithm of a chi-square variable over its degrees of freedom.

    Wilson and Hilferty (1931), Proceedings of the National Academy of Sciences 17(12), p. 684.
    """
    return np.asarray(3 * np.log(np.maximum(1 - 2 / (9 * freedom), 0.05)))


def _trigamma(x: float) -> float:
    """Return the second derivative of the logarithm of the gamma function."""
    more = 0.0
    while x < 6:  # its series is accurate for large arguments
        more += 1 / x**2
        x += 1
    return more + 1 / x + 1 / (2 * x**2) + 1 / (6 * x**3) - 1 / (30 * x**5)


def _inverse_trigamma(value: float) -> float:
    """Return where the trigamma function, which falls, has this value."""
    low, high = 1e-3, 1e3
    for _ in range(30):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if _trigamma(middle) > value else (low, middle)
    return low
