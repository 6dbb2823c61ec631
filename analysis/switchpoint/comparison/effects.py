"""Compares times of two curves, with intervals over launches.

A launch is the unit: launches of one job differ by more than the samples within one of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from switchpoint.tables.student import t975
from switchpoint.tables.sweeps import Floats, Indices

#: What an interval is over.
OVER_LAUNCHES = "launches"
WITHIN_LAUNCHES = "samples within one launch"


@dataclass(frozen=True)
class Effect:
    """The times of one curve divided by those of another, at several places.

    Attributes
    ----------
    ratio, low, high : array of float
        Other over first, and its 95 % interval, NaN if no scatter is known.
    over_launches : array of bool
        Whether the interval is over launches. Otherwise it is over the samples within the only
        launch of each, so it leaves out what differs from launch to launch.
    faster : array of int
        -1 if the first is faster, 1 if the other is, 0 if that is not known.
    """

    ratio: Floats
    low: Floats
    high: Floats
    over_launches: np.ndarray[tuple[int], np.dtype[np.bool_]]
    faster: np.ndarray[tuple[int], np.dtype[np.int_]]


def compare_times(first: tuple[Floats, Floats], other: tuple[Floats, Floats]) -> Effect:
    """Divide times, with Welch's interval of the difference of mean logarithms over launches.

    Parameters
    ----------
    first, other : (log_time, error), each of shape (launches, places)
        Logarithms of times, NaN where a launch has none, and standard errors within the launch.

    Returns
    -------
    Effect
        If one side has a single launch, its scatter is taken to be that of the other side. If both
        have, the interval is over samples, and neither side counts as faster: launches in shared
        memory were seen to differ by a factor of four.
    """
    n = [np.sum(~np.isnan(log_time), axis=0) for log_time, _ in (first, other)]
    means, variances = zip(*(_moments(log_time) for log_time, _ in (first, other)), strict=True)
    within = np.sqrt(sum(_within(*side) for side in (first, other)))
    several = [count > 1 for count in n]
    shared = np.where(several[0], variances[0], variances[1])
    parts = [
        np.where(own, variance, shared) / np.maximum(count, 1)
        for own, variance, count in zip(several, variances, n, strict=True)
    ]
    over_launches = several[0] | several[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        freedom = (parts[0] + parts[1]) ** 2 / sum(
            np.where(own, part**2 / np.maximum(count - 1, 1), 0.0)
            for own, part, count in zip(several, parts, n, strict=True)
        )
    # With a single launch on one side only the other side has degrees of freedom.
    freedom = np.where(several[0] & several[1], freedom, np.maximum(n[0], n[1]) - 1.0)
    freedom = np.where(np.isfinite(freedom) & (freedom > 0), freedom, 1e9)
    error = np.where(over_launches, np.sqrt(parts[0] + parts[1]) * t975(freedom), 1.96 * within)
    error = np.where(over_launches | (within > 0), error, np.nan)
    difference = means[1] - means[0]
    needed = np.where(over_launches, error, np.inf)
    faster = np.where(difference - needed > 0, -1, np.where(difference + needed < 0, 1, 0))
    return Effect(
        np.exp(difference),
        np.exp(difference - error),
        np.exp(difference + error),
        over_launches,
        faster,
    )


def mean_over(side: tuple[Floats, Floats], places: Indices) -> tuple[Floats, Floats]:
    """Return each launch's mean logarithm over a range of sizes, and its error, as one place.

    A launch that lacks some of the sizes is left out: its mean would be that of other sizes.
    """
    log_time, error = side[0][:, places], side[1][:, places]
    errors = np.sqrt(np.sum(error**2, axis=1)) / error.shape[1]
    return log_time.mean(axis=1)[:, None], errors[:, None]


def _moments(log_time: Floats) -> tuple[Floats, Floats]:
    """Return mean and unbiased variance over launches; the variance of one launch is 0."""
    count = np.sum(~np.isnan(log_time), axis=0)
    with np.errstate(invalid="ignore"):
        mean = np.nansum(log_time, axis=0) / np.where(count > 0, count, np.nan)
        squares = np.nansum((log_time - mean) ** 2, axis=0)
    return mean, squares / np.maximum(count - 1, 1)


def _within(log_time: Floats, error: Floats) -> Floats:
    """Return the variance of the mean over launches that the scatter within them leaves."""
    count = np.sum(~np.isnan(log_time), axis=0)
    return np.asarray(np.nansum(error**2, axis=0) / np.maximum(count, 1) ** 2)
