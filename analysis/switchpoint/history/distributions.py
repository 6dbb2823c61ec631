"""Probabilities of Student's t and of chi-square variables, and tests of many hypotheses."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from switchpoint.tables.sweeps import Floats

#: Two-sided 95 % of a normal distribution.
_NORMAL_95 = 1.959964


def normal_deviate(t: Floats, freedom: Floats) -> Floats:
    """Convert values of Student's t to normal deviates of the same probability.

    Wallace (1959), Annals of Mathematical Statistics 30(4), p. 1124, exact to 0.03 in the deviate
    from 3 degrees of freedom on.
    """
    factor = (8 * freedom + 1) / (8 * freedom + 3)
    return np.asarray(np.sign(t) * factor * np.sqrt(freedom * np.log1p(t**2 / freedom)))


def quantile_95(freedom: Floats) -> Floats:
    """Return the two-sided 95 % quantile of Student's t, from the same approximation."""
    factor = (8 * freedom + 1) / (8 * freedom + 3)
    return np.asarray(np.sqrt(freedom * np.expm1((_NORMAL_95 / factor) ** 2 / freedom)))


def probability(z: Floats) -> Floats:
    """Return the two-sided probability of normal deviates; 1 for NaN."""
    values = [1.0 if math.isnan(one) else math.erfc(abs(one) / math.sqrt(2)) for one in z.tolist()]
    return np.array(values)


def significant(p: Floats, rate: float, *, alike: bool = False) -> npt.NDArray[np.bool_]:
    """Choose tests with this false discovery rate.

    Tests that depend on each other in any way need the procedure of Benjamini and Yekutieli (2001,
    Annals of Statistics 29(4), theorem 1.3): curves share links and nodes. For tests that are
    `alike`, such as of groups with common curves, that of Benjamini and Hochberg (1995) suffices.
    """
    n = len(p)
    if not n:
        return np.zeros(0, dtype=bool)
    order = np.argsort(p)
    price = 1.0 if alike else np.sum(1 / np.arange(1, n + 1))
    limit = rate * np.arange(1, n + 1) / (n * price)
    passed = np.flatnonzero(p[order] <= limit)
    chosen = np.zeros(n, dtype=bool)
    if len(passed):
        chosen[order[: passed[-1] + 1]] = True
    return chosen


def log_chi(freedom: Floats) -> Floats:
    """Return the median of the logarithm of a chi-square variable over its degrees of freedom.

    Wilson and Hilferty (1931), Proceedings of the National Academy of Sciences 17(12), p. 684.
    """
    return np.asarray(3 * np.log(np.maximum(1 - 2 / (9 * freedom), 0.05)))


def trigamma(x: float) -> float:
    """Return the second derivative of the logarithm of the gamma function."""
    more = 0.0
    while x < 6:  # its series is accurate for large arguments
        more += 1 / x**2
        x += 1
    return more + 1 / x + 1 / (2 * x**2) + 1 / (6 * x**3) - 1 / (30 * x**5)


def inverse_trigamma(value: float) -> float:
    """Return where the trigamma function, which falls, has this value."""
    low, high = 1e-3, 1e3
    for _ in range(30):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if trigamma(middle) > value else (low, middle)
    return low
