"""Slow drifts: values that become worse night by night, too little in each night to be seen."""

from __future__ import annotations

import itertools

import numpy as np

from switchpoint.history.distributions import normal_deviate
from switchpoint.history.levels import levels
from switchpoint.tables.sweeps import Floats

#: Fewer nights do not show a drift.
FEWEST_NIGHTS = 10

#: Slopes of more pairs of nights are not needed.
_MOST_NIGHTS = 120


#: The normal deviate from which a change is called a drift.
_SURE = 4.0


def drift(series: Floats) -> tuple[float, float, float, float]:
    """Return by how much a series rose from its first to its last night.

    Theil and Sen's slope, with Mann and Kendall's test. Nights next to each other are alike, which
    would make chance look like a drift: the variance is multiplied for the autocorrelation of the
    ranks around the slope (Hamed and Rao 1998, Journal of Hydrology 204, p. 182).

    Parameters
    ----------
    series : array of float, shape (nights,)
        NaN where there is no value.

    Returns
    -------
    rise, low, high : float
        With its 95 % interval (Sen 1968); NaN with too few nights.
    z : float
        The test's normal deviate.
    """
    there = np.flatnonzero(np.isfinite(series))[-_MOST_NIGHTS:]
    count = len(there)
    if count < FEWEST_NIGHTS:
        return np.nan, np.nan, np.nan, 0.0
    values, night = series[there], there.astype(float)
    first, second = np.triu_indices(count, 1)
    slopes = np.sort((values[second] - values[first]) / (night[second] - night[first]))
    slope = float(np.median(slopes))
    score = float(np.sign(values[second] - values[first]).sum())
    variance = count * (count - 1) * (2 * count + 5) / 18
    variance *= _inflation(values - slope * night)
    z = (score - np.sign(score)) / np.sqrt(variance)
    half = 1.96 * np.sqrt(variance)
    ranks = np.clip([(len(slopes) - half) / 2, (len(slopes) + half) / 2], 0, len(slopes) - 1)
    low, high = slopes[np.round(ranks).astype(int)]
    span = night[-1] - night[0]
    deviate = normal_deviate(np.array([z]), np.array([float(count - 2)]))
    return slope * span, float(low) * span, float(high) * span, float(deviate[0])


def is_drift(series: Floats) -> bool:
    """Whether a series rises night by night, and not at once."""
    *_, z = drift(series)
    return z > _SURE and is_gradual(series)


def is_gradual(series: Floats) -> bool:
    """Whether a line fits a series better than levels, by the distances of its nights."""
    there = np.flatnonzero(np.isfinite(series))[-_MOST_NIGHTS:]
    if len(there) < FEWEST_NIGHTS:
        return False
    values, night = series[there], there.astype(float)
    first, second = np.triu_indices(len(there), 1)
    slope = np.median((values[second] - values[first]) / (night[second] - night[first]))
    rest = values - slope * night
    by_line = float(np.abs(rest - np.median(rest)).sum())
    [edges] = levels(values[None])
    by_levels = sum(
        float(np.abs(values[one:two] - np.median(values[one:two])).sum())
        for one, two in itertools.pairwise(edges)
    )
    # Each level more is one more number to fit.
    return by_line < by_levels * (1 + 2 * (len(edges) - 2) / len(there)) if len(edges) > 2 else True


def _inflation(rest: Floats) -> float:
    """Return how much autocorrelation increases the variance of Mann and Kendall's score."""
    count = len(rest)
    ranks = np.argsort(np.argsort(rest)).astype(float)
    ranks -= ranks.mean()
    total = float(ranks @ ranks)
    added = 0.0
    for lag in range(1, count // 4):
        correlation = float(ranks[lag:] @ ranks[:-lag]) / total
        if correlation < 1.96 / np.sqrt(count):  # beyond the first lag without, it is chance
            break
        added += (count - lag) * (count - lag - 1) * (count - lag - 2) * correlation
    return 1 + 2 * added / (count * (count - 1) * (count - 2))
