"""Slow drifts: values that become worse session by session, too little in each to be seen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from switchpoint.gating.baseline import MOST_CORRELATED, correlation
from switchpoint.gating.levels import split_costs
from switchpoint.tables.sweeps import Floats, Indices

#: Fewer sessions do not show a drift.
FEWEST_SESSIONS = 10


@dataclass(frozen=True)
class Drift:
    """By how much a series rose from its first to its last session.

    Attributes
    ----------
    rise, low, high : float
        With its 95 % interval.
    p : float
        The probability of such a rise by chance.
    """

    rise: float
    low: float
    high: float
    p: float


def drifts(series: Floats, group: Indices, rate: float) -> dict[int, Drift]:
    """Find the series that rise little by little, and not from one level to another.

    Mann and Kendall's test, and the slope of Theil and Sen with its interval (Sen 1968). Sessions
    next to each other are alike, which would make chance look like a drift: the variance of the
    test is that of correlated ranks (Hamed and Rao 1998, Journal of Hydrology 204, p. 182).

    Parameters
    ----------
    series : array of float, shape (series, sessions)
        NaN where there is no value.
    group : array of int, shape (series,)
        Series with the same number have the same correlation of neighbouring sessions.
    rate
        What is more probable by chance is left out.

    Returns
    -------
    dict
        By the row of the series.
    """
    score, variance = _mann_kendall(series, correlation_beside_trend(series, group))
    p = special.ndtr((1 - score) / np.sqrt(variance))  # only a rise counts
    enough = np.isfinite(series).sum(axis=1) >= FEWEST_SESSIONS
    rising = {}
    for row in np.flatnonzero(enough & (p <= rate)).tolist():
        session, values, slopes = _slopes(series[row])
        if _is_gradual(session, values, float(np.median(slopes))):
            half = 1.96 * np.sqrt(variance[row])
            ranks = (len(slopes) + np.array([-half, half])) / 2
            places = np.clip(ranks, 0, len(slopes) - 1).round().astype(int)
            changes = np.array([np.median(slopes), *slopes[places]]) * (session[-1] - session[0])
            rise, low, high = changes.tolist()
            rising[row] = Drift(rise, low, high, float(p[row]))
    return rising


def _slopes(series: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the sessions with a value, the values, and the sorted slopes of all pairs of them."""
    session = np.flatnonzero(np.isfinite(series)).astype(float)
    values = series[np.isfinite(series)]
    first, second = np.triu_indices(len(session), 1)
    slopes = (values[second] - values[first]) / (session[second] - session[first])
    return session, values, np.sort(slopes)


def _is_gradual(session: Floats, values: Floats, slope: float) -> bool:
    """Whether a line fits a series better than two levels, by the distances of its sessions."""
    rest = values - slope * session
    by_line = float(np.abs(rest - np.median(rest)).sum())
    return by_line < float(split_costs(values).min())


def _mann_kendall(series: Floats, neighbours: Floats) -> tuple[Floats, Floats]:
    """Return the score of each series, and its variance with this correlation of neighbours."""
    count = np.maximum(np.isfinite(series).sum(axis=1), 3)
    score, dependent = np.zeros(len(series)), np.zeros(len(series))
    for lag in range(1, series.shape[1]):
        score += np.nansum(np.sign(series[:, lag:] - series[:, :-lag]), axis=1)
        of_ranks = 6 / np.pi * np.arcsin(neighbours**lag / 2)  # from that of normal values
        left = np.maximum(count - lag, 0)
        dependent += left * (left - 1) * (left - 2) * of_ranks
    independent = count * (count - 1) * (2 * count + 5) / 18
    return score, independent * (1 + 2 * dependent / (count * (count - 1) * (count - 2)))


def correlation_beside_trend(series: Floats, group: Indices) -> Floats:
    """Return the correlation of each series' neighbouring sessions beside its straight line.

    Without the bias of a fitted line (Shaman and Stine 1988, Journal of the American Statistical
    Association 83(403), pp. 842-848).

    Parameters
    ----------
    series : array of float, shape (series, sessions)
        NaN where there is no value.
    group : array of int, shape (series,)
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
    neighbours = correlation(rest, np.zeros(len(rest)), group)
    # A line takes some of it with it: (2 + 4 r) / sessions.
    unbiased = (neighbours + 2 / number) / np.maximum(1 - 4 / number, 0.5)
    return np.asarray(np.clip(unbiased, 0.0, MOST_CORRELATED))
