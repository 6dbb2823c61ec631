"""What the visits of a size say of its time: which of them to believe, and how far.

A visit is one size in one pass. Adaptive routing, frequencies or interrupts make some visits slow
as a whole. The median of a few visits is then sometimes a slow one, and their own scatter does not
show it. The visits of neighbouring sizes do: their deviations together are the distribution from
which each size drew its few.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cache

import numpy as np

from switchpoint.tables.sweeps import Floats, Indices

#: Fewer visits of a size say nothing of its states.
_FEWEST_VISITS = 3

#: The deviations of so many visits make a distribution: those of a size and of its neighbours.
_VISITS_TOGETHER = 40

#: Visits have states if, at this share of a curve's sizes, their own scatter makes the error of the
#: median seem less than this part of what the visits of the neighbours show too.
_SIZES_WITH_STATES = 1 / 4
_MUCH_LESS = 1 / 3

#: By how much slow visits are slower, as a quantile of all visits.
_SLOW_QUANTILE = 0.9

#: So many standard errors on either side contain 95 % of normal values.
_NORMAL_95 = 1.96


@dataclass(frozen=True)
class States:
    """The states of a curve's visits.

    Attributes
    ----------
    slow_share : float
        The share of visits that are slow.
    slower : float
        By how much, relative to the fastest visits: the median of the slow ones.
    distinguished : bool
        Whether there are enough visits of each size for its fastest to stand for it.
    """

    slow_share: float
    slower: float
    distinguished: bool


@dataclass(frozen=True)
class Visits:
    """What the visits of several curves say of their sizes.

    Attributes
    ----------
    error : array of float
        By point: the relative standard error of the median.
    fastest : array of float
        By point, where a curve's visits have states and the fastest visits are known much better
        than the medians: the logarithm of their time, relative to the median. 0 elsewhere.
    error_of_fastest : array of float
        By point: its relative standard error; 0 elsewhere.
    states : dict
        By curve: the states of its visits, if they have any.
    """

    error: Floats
    fastest: Floats
    error_of_fastest: Floats
    states: dict[int, States]


def compare_visits(point: Indices, slower: Floats, own: Floats, point_curve: Indices) -> Visits:
    """Compare the visits of each size with those of its neighbours in the curve.

    Parameters
    ----------
    point : array of int, shape (visits,)
        Of each visit: its curve and size, numbered in order.
    slower : array of float, shape (visits,)
        The logarithm of its time, relative to that of other visits of its size.
    own : array of float, shape (points,)
        The relative standard error of each median that its own samples and visits show.
    point_curve : array of int, shape (points,)
        The curve of each point, ascending.
    """
    error, (fastest, of_fastest) = own.copy(), np.zeros((2, len(point_curve)))
    states: dict[int, States] = {}
    order = np.lexsort((slower, point))
    counts = np.bincount(point, minlength=len(point_curve))
    ends = np.cumsum(counts)
    number = np.arange(len(point)) - np.repeat(ends - counts, counts)
    edges = np.flatnonzero(np.diff(point_curve, prepend=-1, append=-1))
    for first, end in itertools.pairwise(edges):
        here = slice(first, end)
        several = counts[here]
        if not _FEWEST_VISITS <= np.median(several) <= several.max() <= _VISITS_TOGETHER:
            continue  # many visits show their own error
        sorted_ = slice(ends[first] - counts[first], ends[end - 1])
        visits = np.full((end - first, several.max()), np.nan)
        visits[point[order[sorted_]] - first, number[sorted_]] = slower[order[sorted_]]
        median, of_median = _known(visits, several, (several - 1) / 2)
        unseen = own[here] < _MUCH_LESS * of_median
        if unseen.mean() < _SIZES_WITH_STATES:
            continue
        error[here] = np.maximum(own[here], of_median)
        lowest, of_lowest = _known(visits, several, np.zeros(end - first))
        share, slower_by, of_no_fast = _slow(visits - lowest[:, None])
        of_lowest = np.maximum(of_lowest, of_no_fast)
        distinguished = bool((of_lowest < _MUCH_LESS * of_median).mean() >= _SIZES_WITH_STATES)
        states[int(point_curve[first])] = States(
            float(np.median(share[unseen])),
            float(np.expm1(np.median(slower_by[unseen]))),
            distinguished,
        )
        if distinguished:
            fastest[here], of_fastest[here] = lowest - median, of_lowest
    return Visits(error, fastest, of_fastest, states)


def _slow(off: Floats) -> tuple[Floats, Floats, Floats]:
    """Describe the slow visits around each size: their share, and by how much they are slower.

    `off` are the logarithms of visits relative to the fastest of their size. Returned with the
    standard error of the fastest one that is due to sizes without a fast visit: if all visits of a
    size agree, they may all be slow.
    """
    several = np.isfinite(off).sum(axis=1)
    usual = int(np.median(several))
    pool, last = _around(off, usual)
    rows = np.arange(len(off))
    slower = pool[rows, np.round(_SLOW_QUANTILE * last).astype(int)]
    seen = (pool > slower[:, None] / 2).sum(axis=1) / (last + 1)
    # The visits of a size that are all slow are not seen.
    shares = np.linspace(0, usual ** (-1 / (usual - 1)), 200)
    share = np.interp(seen, shares - shares**usual, shares)
    agree = np.nanmax(off, axis=1) <= slower / 2
    all_slow = share**several / (share**several + (1 - share) ** several)
    return share, slower, np.where(agree, slower * np.sqrt(all_slow), 0.0)


def _known(visits: Floats, counts: Indices, rank: Floats) -> tuple[Floats, Floats]:
    """Return the value at this rank of each size's sorted visits, and its standard error.

    The error follows from the range that contains the value with a probability of 95 %, if a size
    draws its visits from its own deviations and those of its neighbours (order statistics).
    """
    rows = np.arange(len(visits))
    low, high = np.floor(rank).astype(int), np.ceil(rank).astype(int)
    value = (visits[rows, low] + visits[rows, high]) / 2
    usual = int(np.median(counts))
    pool, last = _around(visits - value[:, None], usual)
    reach = [pool[rows, np.round(at * last).astype(int)] for at in _range(counts, rank)]
    return value, (reach[1] - reach[0]) * _per_range(usual, float(np.median(rank)))


def _around(off: Floats, usual: int) -> tuple[Floats, Indices]:
    """Return the sorted visits of each size and of its neighbours, and the index of the last."""
    wide = max(-(-(_VISITS_TOGETHER - usual) // (2 * usual)), 0)
    padded = np.pad(off, ((wide, wide), (0, 0)), constant_values=np.nan)
    around = np.lib.stride_tricks.sliding_window_view(padded, 2 * wide + 1, axis=0)
    pool = np.sort(around.reshape(len(off), -1), axis=1)
    return pool, np.isfinite(pool).sum(axis=1) - 1


def _range(counts: Indices | int, rank: Floats | float) -> tuple[Floats, Floats]:
    """Return between which shares of a distribution a value of this rank lies, in 95 %."""
    middle = (np.asarray(rank) + 1) / (counts + 1)
    reach = _NORMAL_95 * np.sqrt(middle * (1 - middle) / (counts + 2))
    return np.maximum(middle - reach, 0), np.minimum(middle + reach, 1)


@cache
def _per_range(count: int, rank: float) -> float:
    """Return the standard error of a value of this rank per its range, of normal deviations."""
    drawn = np.sort(np.random.default_rng(1).normal(size=(4000, count)), axis=1)
    value = (drawn[:, int(np.floor(rank))] + drawn[:, int(np.ceil(rank))]) / 2
    low, high = np.quantile(drawn - value[:, None], _range(count, rank))
    return float(value.std() / (high - low))
