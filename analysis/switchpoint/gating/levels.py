"""Which sessions of a baseline are normal: those at its settled level.

A change that is new is not normal yet: its sessions must not become what the current session is
compared with, or a regression would hide itself. After some sessions it is what users live with,
and counts. A change began where the split of a series into two levels fits best.
"""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from switchpoint.gating.by_session import row_medians
from switchpoint.tables.student import SD_PER_MAD
from switchpoint.tables.sweeps import Floats

#: A level needs this many sessions.
_FEWEST_SESSIONS = 2

#: A further level must save this much cost, in units of the scatter's square times the logarithm of
#: the sessions.
_PRICE = 9.0

#: A session further from the median of so many sessions on either side than this many standard
#: deviations was disturbed.
_AROUND = 2
_DISTURBED = 3.0

#: No scatter is less than this, as a logarithm.
LEAST_SCATTER = 0.003

#: Splits are possible whose cost is within this of the best, in units of the typical scatter of a
#: session: 95 % for Laplace-distributed sessions.
_POSSIBLE = 3.0


def normal_sessions(per_session: Floats, after_sessions: int) -> npt.NDArray[np.bool_]:
    """Choose for each series the sessions that the current session is compared with.

    Parameters
    ----------
    per_session : array of float, shape (series, sessions)
        NaN where there is no value. The last session is the current session, which is not chosen.
    after_sessions
        A level is normal after so many sessions.

    Returns
    -------
    array of bool, shape (series, sessions)
    """
    past = per_session[:, :-1]
    chosen = np.ones(per_session.shape, dtype=bool)
    chosen[:, -1] = False
    for row, edges in enumerate(levels(past) if past.shape[1] > 1 else []):
        first, last = _normal_level(edges, after_sessions)
        chosen[row] = False
        chosen[row, first:last] = True
    return chosen


def _normal_level(edges: list[int], after_sessions: int) -> tuple[int, int]:
    """Return the newest level that lasted so long, or else the first one.

    Its first session, and the session after its last.
    """
    lasted = [
        (first, last)
        for first, last in itertools.pairwise(edges)
        if last - first >= after_sessions or first == 0
    ]
    return lasted[-1]


def levels(series: Floats) -> list[list[int]]:
    """Divide each series into levels: the first session of each, and the number of sessions.

    Single disturbed sessions are first replaced by the median of the sessions around them (Hampel's
    filter). Then dynamic programming finds the division with the least squares, with a price for
    each level.

    Parameters
    ----------
    series : array of float, shape (series, sessions)
        NaN where there is no value.
    """
    count, sessions = series.shape
    values = _without_disturbed(series)
    there = np.isfinite(values)
    sums = [
        np.concatenate([np.zeros((count, 1)), np.cumsum(part, axis=1)], axis=1)
        for part in (there.astype(float), np.nan_to_num(values), np.nan_to_num(values) ** 2)
    ]
    price = _PRICE * _scale(values) ** 2 * np.log(max(sessions, 2))
    best = np.zeros((count, sessions + 1))
    came_from = np.zeros((count, sessions + 1), dtype=int)
    for end in range(1, sessions + 1):
        number, total, squares = (part[:, end, None] - part[:, :end] for part in sums)
        cost = squares - total**2 / np.maximum(number, 1) + price[:, None]
        allowed = (number >= _FEWEST_SESSIONS) | (np.arange(end) == 0)
        options = np.where(allowed, best[:, :end] + cost, np.inf)
        came_from[:, end] = options.argmin(axis=1)
        best[:, end] = options.min(axis=1)
    return [_edges(one) for one in came_from.tolist()]


def _edges(came_from: list[int]) -> list[int]:
    edges = [len(came_from) - 1]
    while edges[-1] > 0:
        edges.append(came_from[edges[-1]])
    return edges[::-1]


def _without_disturbed(series: Floats) -> Floats:
    """Replace sessions that are far from the sessions around them by their median."""
    around = np.lib.stride_tricks.sliding_window_view(
        np.pad(series, ((0, 0), (_AROUND, _AROUND)), constant_values=np.nan),
        2 * _AROUND + 1,
        axis=1,
    )
    usual = row_medians(around)
    far = np.abs(series - usual) > _DISTURBED * _scale(series)[:, None]
    return np.where(far, usual, series)


def _scale(series: Floats) -> Floats:
    """Return the scatter of each series from its steps, which hardly depend on its levels."""
    scale = SD_PER_MAD * row_medians(np.abs(np.diff(series, axis=1))) / np.sqrt(2)
    return np.asarray(np.maximum(np.nan_to_num(scale), LEAST_SCATTER))


def began(series: Floats, starts_utc: Sequence[str]) -> tuple[str, ...]:
    """Return when the last session's level began, and the first and last session that are possible.

    Parameters
    ----------
    series : array of float, shape (sessions,)
        NaN where there is no value.
    starts_utc
        The start of each session.

    Returns
    -------
    tuple of str
        Empty with too few sessions.
    """
    there = np.flatnonzero(np.isfinite(series))
    if len(there) < 2 * _FEWEST_SESSIONS:
        return ()
    values = series[there]
    cost = split_costs(values)
    steps = np.abs(np.diff(values))
    scale = max(float(np.median(steps)), 1e-3)
    splits = np.flatnonzero(cost - cost.min() <= _POSSIBLE * scale)
    best = int(np.argmin(cost))
    first, last = (int(there[split + 1]) for split in (splits[0], splits[-1]))
    return starts_utc[int(there[best + 1])], starts_utc[first], starts_utc[last]


def split_costs(values: Floats) -> Floats:
    """Return for each split into two levels the sum of the distances from their medians."""
    return _costs_before(values)[:-1] + _costs_before(values[::-1])[::-1][1:]


def _costs_before(values: Floats) -> Floats:
    """Return for each number of first values the sum of their distances from their median.

    The first entry is that of one value. It is a running median, with the sums of the values below
    and above it.
    """
    ordered: list[float] = []
    costs = np.empty(len(values))
    for number, value in enumerate(values.tolist()):
        bisect.insort(ordered, value)
        half = (number + 1) // 2
        costs[number] = sum(ordered[number + 1 - half :]) - sum(ordered[:half])
    return costs
