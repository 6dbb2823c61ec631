"""Slow drifts: values that become worse session by session, too little in each to be seen."""

from __future__ import annotations

from typing import Any

import numpy as np

from switchpoint.gating.baseline import MOST_CORRELATED, correlation, deviates
from switchpoint.gating.levels import costs_before
from switchpoint.tables.sweeps import Floats, Indices

#: Fewer sessions do not show a drift.
FEWEST_SESSIONS = 10

#: Slopes of more pairs of sessions are not needed.
_MOST_SESSIONS = 120


def drift(series: Floats, alike: float | None = None) -> tuple[float, float, float, float]:
    """Return by how much a series rose from its first to its last session.

    Theil and Sen's slope, with Mann and Kendall's test. Sessions next to each other are alike,
    which would make chance look like a drift: the variance is multiplied for the autocorrelation of
    the ranks around the slope (Hamed and Rao 1998, Journal of Hydrology 204, p. 182).

    Parameters
    ----------
    series : array of float, shape (sessions,)
        NaN where there is no value.
    alike
        The correlation of neighbouring sessions, if similar series tell it. The series' own
        sessions do not tell it well, but count if they are even more alike.

    Returns
    -------
    rise, low, high : float
        With its 95 % interval (Sen 1968); NaN with too few sessions.
    z : float
        The test's normal deviate.
    """
    there = np.flatnonzero(np.isfinite(series))[-_MOST_SESSIONS:]
    count = len(there)
    if count < FEWEST_SESSIONS:
        return np.nan, np.nan, np.nan, 0.0
    values, session = series[there], there.astype(float)
    first, second = np.triu_indices(count, 1)
    slopes = np.sort((values[second] - values[first]) / (session[second] - session[first]))
    slope = float(np.median(slopes))
    score = float(np.sign(values[second] - values[first]).sum())
    inflation = _inflation(_own_correlations(values - slope * session), count)
    if alike is not None:  # of ranks, from that of normal values
        of_ranks = 6 / np.pi * np.arcsin(alike ** np.arange(1, count) / 2)
        inflation = max(inflation, _inflation(of_ranks, count))
    variance = _variance(count) * inflation
    z = (score - np.sign(score)) / np.sqrt(variance)
    half = 1.96 * np.sqrt(variance)
    ranks = np.clip([(len(slopes) - half) / 2, (len(slopes) + half) / 2], 0, len(slopes) - 1)
    low, high = slopes[np.round(ranks).astype(int)]
    span = session[-1] - session[0]
    if alike is None:  # the variance is not known well
        z = deviates(np.array([z]), np.array([float(count - 2)]))[0]
    return slope * span, float(low) * span, float(high) * span, float(z)


def is_gradual(series: Floats) -> bool:
    """Whether a line fits a series better than two levels, by the distances of its sessions."""
    there = np.flatnonzero(np.isfinite(series))[-_MOST_SESSIONS:]
    if len(there) < FEWEST_SESSIONS:
        return False
    values, session = series[there], there.astype(float)
    first, second = np.triu_indices(len(there), 1)
    slope = np.median((values[second] - values[first]) / (session[second] - session[first]))
    rest = values - slope * session
    by_line = float(np.abs(rest - np.median(rest)).sum())
    by_levels = costs_before(values)[:-1] + costs_before(values[::-1])[::-1][1:]
    return by_line < float(by_levels.min())


def most_deviates(series: Floats) -> Floats:
    """Return the normal deviates of Mann and Kendall's test as if sessions were independent.

    That of `drift` is nearer to 0, but takes longer.

    Parameters
    ----------
    series : array of float, shape (series, sessions)
        NaN where there is no value.
    """
    series = series[:, -_MOST_SESSIONS:]
    score = np.zeros(len(series))
    for lag in range(1, series.shape[1]):
        score += np.nansum(np.sign(series[:, lag:] - series[:, :-lag]), axis=1)
    count = np.isfinite(series).sum(axis=1)
    return np.where(count >= FEWEST_SESSIONS, score / np.sqrt(_variance(np.maximum(count, 2))), 0.0)


def correlation_beside_trend(series: Floats, stratum: Indices) -> Floats:
    """Return the correlation of each series' neighbouring sessions beside its straight line.

    Without the bias of a fitted line (Shaman and Stine 1988, Journal of the American Statistical
    Association 83(403), pp. 842-848).

    Parameters
    ----------
    series : array of float, shape (series, sessions)
        NaN where there is no value.
    stratum : array of int, shape (series,)
        Series with the same number are similar.
    """
    there = np.isfinite(series)
    number = np.maximum(there.sum(axis=1), 1)
    session = np.where(there, np.arange(series.shape[1]), 0)
    session = np.where(there, session - (session.sum(axis=1) / number)[:, None], 0.0)
    values = np.nan_to_num(series)
    values = np.where(there, values - (values.sum(axis=1) / number)[:, None], 0.0)
    squares = np.maximum((session**2).sum(axis=1), 1)
    slope = (session * values).sum(axis=1) / squares
    rest = np.where(there, values - slope[:, None] * session, np.nan)
    found = correlation(rest, np.zeros(len(rest)), stratum)
    # A line takes some of it with it: (2 + 4 r) / sessions.
    unbiased = (found + 2 / number) / np.maximum(1 - 4 / number, 0.5)
    return np.asarray(np.clip(unbiased, 0.0, MOST_CORRELATED))


def _variance(count: Any) -> Any:
    """Return the variance of Mann and Kendall's score of so many independent sessions."""
    return count * (count - 1) * (2 * count + 5) / 18


def _own_correlations(rest: Floats) -> Floats:
    """Return the correlation of the ranks of sessions 1, 2 and more apart, until it is chance."""
    count = len(rest)
    ranks = np.argsort(np.argsort(rest)).astype(float)
    ranks -= ranks.mean()
    total = float(ranks @ ranks)
    found: list[float] = []
    for lag in range(1, count // 4):
        own = float(ranks[lag:] @ ranks[:-lag]) / total
        if own < 1.96 / np.sqrt(count):  # beyond the first lag without, it is chance
            break
        found.append(own)
    return np.array(found)


def _inflation(correlations: Floats, count: int) -> float:
    """Return how much autocorrelation increases the variance of Mann and Kendall's score."""
    left = count - np.arange(1, len(correlations) + 1)
    added = float((left * (left - 1) * (left - 2) * correlations).sum())
    return 1 + 2 * added / (count * (count - 1) * (count - 2))
