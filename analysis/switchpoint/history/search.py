"""The fewest groups of curves that explain what changed.

A slow link moves hundreds of curves together. Testing what they share is more powerful than testing
each, and one finding says more than hundreds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from switchpoint.history.by_night import LaunchesByNight
from switchpoint.history.compared import LARGE, LEAST_SHARE, Change, Compared
from switchpoint.history.drift import (
    SURE,
    correlation_beside_trend,
    drift,
    is_gradual,
    most_deviates,
)
from switchpoint.history.false_discovery import significant
from switchpoint.history.levels import normal_nights
from switchpoint.history.parameters import main_segments
from switchpoint.history.relatives import joined, relatives
from switchpoint.history.same_segments import in_the_same_segments
from switchpoint.history.scatter import Nightly, compare
from switchpoint.tables.student import probability
from switchpoint.tables.sweeps import Floats, Indices

#: A member of a group counts at most this much for or against it, as a logarithm of likelihoods.
_MOST_EVIDENCE = 8.0

#: Members that scatter independently scatter less together. Before there is a history, it is
#: assumed that they scatter together by this share of what one does.
_TOGETHER = 0.7

#: More groups are not looked for in one metric.
_MOST_GROUPS = 12


def shared_changes(compared: Compared) -> list[Change]:
    """Explain what changed by the fewest groups, then by single curves."""
    search = _Search(compared)
    return [change for metric in compared.least for change in search.of(metric)]


def drifting_curves(compared: Compared, metrics: Sequence[str]) -> list[Change]:
    """Find groups, and then single curves, whose values became worse night by night.

    The effect is the rise from the first night to the last.
    """
    search = _Search(compared)
    return [change for metric in metrics for change in search.drifting(metric)]


def change_of(compared: Compared, curves: Indices, metric: str) -> Change | None:
    """Measure how much a metric of some curves changed together, significant or not."""
    search = _Search(compared)
    rows = search.rows(curves, metric)
    return search.together(metric, [rows], [{}])[0] if len(rows) else None


def _kinds(shared: Sequence[Mapping[str, str]]) -> Indices:
    """Number groups by the factors whose values they share."""
    kinds: dict[frozenset[str], int] = {}
    return np.array([kinds.setdefault(frozenset(one), len(kinds)) for one in shared], dtype=int)


class _Search:
    """The parameters that no change explains yet, and the groups that may explain them."""

    def __init__(self, compared: Compared) -> None:
        self._compared = compared
        self._parameters, self._judged = compared.parameters, compared.judged
        self._groups, self._least = compared.groups, compared.least
        self._stratum = compared.stratum
        self._rate, self._settled_after = compared.rate, compared.settled_after
        parameters, judged, least = compared.parameters, compared.judged, compared.least
        self._metric = parameters.table["metric"].to_numpy()
        self._curve = parameters.table["curve"].to_numpy()
        self._free = np.isin(self._metric, [*least]) & np.isfinite(judged.effect)
        tested = np.flatnonzero(self._free)
        self._alone = np.zeros(len(self._free), dtype=bool)
        self._alone[tested] = significant(judged.p[tested], self._rate)
        self._main = main_segments(parameters.table)
        # Each group is tested in all segments and in the main ones.
        self._group_tests = 2 * len(self._groups) * len(least)

    def of(self, metric: str) -> list[Change]:
        """Return the changes of one metric, those of most curves first."""
        found: list[Change] = []
        while len(found) < _MOST_GROUPS and (best := self._best_group(metric)):
            self._free[self.rows(best.curves, metric)] = False
            found.append(best)
        for number, group in enumerate(found):
            rows = relatives(group, self._groups, self._judged, partial(self.rows, metric=metric))
            self._free[rows] = False
            found[number] = joined(group, rows, self._curve[rows], self._groups)
        rest = self._free & self._alone & (self._metric == metric)
        rest &= np.abs(self._judged.effect) >= self._least[metric]
        singles = np.unique(self._curve[rest])
        alone = [
            self._single(metric, np.flatnonzero(rest & (self._curve == one))) for one in singles
        ]
        return [*found, *map(self._one_of, in_the_same_segments(alone, self._compared))]

    def drifting(self, metric: str) -> list[Change]:
        """Return the largest groups that drift, and other curves that do; each curve once."""
        found: list[Change] = []
        candidates = self._candidates(metric)
        rises = self._rises(candidates)
        others = np.ones(max(self._group_tests - len(candidates), 0))
        p = np.r_[probability(np.array([z for *_, z in rises])) / 2, others]  # only a rise counts
        sure = significant(p, self._rate / 2, alike=True)
        taken: set[int] = set()
        order = sorted(range(len(candidates)), key=lambda number: -len(candidates[number].curves))
        for number in order:
            one, (rise, low, high, z) = candidates[number], rises[number]
            own = set(one.curves.tolist())
            if not sure[number] or rise < self._least[metric] or low <= 0 or own & taken:
                continue
            if is_gradual(one.series) and self._all_rise(one, rise):
                taken |= own
                found.append(replace(one, effect=rise, low=low, high=high, z=z))
        return [
            *found,
            *(one for one in self._drifting_alone(metric) if one.curves[0] not in taken),
        ]

    def _drifting_alone(self, metric: str) -> Iterator[Change]:
        """Yield the single curves that drift in their main segment."""
        rows = np.flatnonzero(self._free & self._main & (self._metric == metric))
        series = self._parameters.nightly[rows] - self._judged.centre[rows, None]
        alike = correlation_beside_trend(series, self._stratum[rows])
        likely = np.flatnonzero(most_deviates(series) > SURE)
        rises = [drift(series[number], alike[number]) for number in likely]
        p = np.ones(len(rows))
        p[likely] = probability(np.array([z for *_, z in rises])) / 2  # only a rise counts
        sure = significant(p, self._rate / 2, alike=True)
        for number, (rise, low, high, z) in zip(likely, rises, strict=True):
            matters = sure[number] and rise >= self._least[metric] and low > 0
            if matters and is_gradual(series[number]):
                one = rows[[number]]
                own = series[number]
                yield Change(metric, self._curve[one], one, rise, low, high, z, p[number], own)

    def _rises(self, candidates: Sequence[Change]) -> list[tuple[float, float, float, float]]:
        """Return how each group drifts; how alike nights are is learnt from groups of a kind."""
        if not candidates:
            return []
        series = np.stack([one.series for one in candidates])
        alike = correlation_beside_trend(series, _kinds([one.shared for one in candidates]))
        return [drift(own, one) for own, one in zip(series, alike, strict=True)]

    def _all_rise(self, change: Change, rise: float) -> bool:
        """Whether most parameters of a group rise at least half as much as the group."""
        own = [drift(self._mean(np.array([row])))[0] for row in change.rows]
        return bool(np.mean(np.array(own) >= rise / 2) >= LEAST_SHARE)

    def rows(self, curves: Indices, metric: str) -> Indices:
        """Return the parameters of some curves that no change explains yet."""
        inside = np.zeros(int(max(self._curve.max(initial=0), curves.max(initial=0))) + 1, bool)
        inside[curves] = True
        return np.flatnonzero(self._free & (self._metric == metric) & inside[self._curve])

    def together(
        self, metric: str, rows: Sequence[Indices], shared: Sequence[Mapping[str, str]]
    ) -> list[Change]:
        """Compare groups of parameters, each as one, with their history.

        Groups that share values of the same factors are alike.
        """
        series = np.stack([self._mean(some) for some in rows])
        # The nights of a group are compared with each other, so what its curves have in common
        # from night to night is part of its scatter.
        usual = np.array([_TOGETHER * np.median(self._judged.scatter[some]) for some in rows])
        normal = normal_nights(series, self._settled_after)
        launches = LaunchesByNight.single(series)
        launches = replace(launches, each=np.stack([self._mean_launches(some) for some in rows]))
        alone = np.arange(len(series))
        judged = compare(Nightly(launches, normal, alone, _kinds(shared)), usual)
        low, high = judged.interval()
        z = judged.z
        return [
            Change(
                metric,
                np.unique(self._curve[some]),
                some,
                float(judged.effect[number]),
                float(low[number]),
                float(high[number]),
                float(z[number]),
                float(judged.p[number]),
                series[number],
                shared[number],
            )
            for number, some in enumerate(rows)
        ]

    def _best_group(self, metric: str) -> Change | None:
        """Return the change of the group that explains most, if it is significant."""
        candidates = self._candidates(metric)
        others = np.ones(max(self._group_tests - len(candidates), 0))  # of the other metrics
        p = np.r_[[one.p for one in candidates], others]
        sure = significant(p, self._rate, alike=True)
        scored = [
            (self._score(one), one)
            for one, is_sure in zip(candidates, sure, strict=False)
            if is_sure and abs(one.effect) >= self._least[metric]
        ]
        score, best = max(scored, key=lambda pair: pair[0], default=(0.0, None))
        return best if score > 0 else None

    def _candidates(self, metric: str) -> list[Change]:
        """Return how each group changed, as far as no change explains its curves yet.

        Once in all of its segments together, and once in the main ones.
        """
        named = [(self.rows(group.curves, metric), group.shared) for group in self._groups]
        named = [(rows, shared) for rows, shared in named if len(np.unique(self._curve[rows])) > 1]
        main = [(rows[self._main[rows]], shared) for rows, shared in named]
        named += [
            (some, shared) for (some, shared), (every, _) in zip(main, named, strict=True)
            if len(np.unique(self._curve[some])) > 1 and len(some) < len(every)
        ]  # fmt: skip
        if not named:
            return []
        return self.together(metric, [rows for rows, _ in named], [shared for _, shared in named])

    def _mean(self, rows: Indices) -> Floats:
        """Return the weighted mean of some parameters in each night, relative to their centres."""
        return self._weighted(self._parameters.nightly, rows)

    def _mean_launches(self, rows: Indices) -> Floats:
        """Return the same mean of each launch: the first of each night of all curves, and so on."""
        return self._weighted(self._parameters.launches.each, rows)

    def _weighted(self, values: npt.NDArray[np.floating[Any]], rows: Indices) -> Floats:
        one_each = (-1, *[1] * (values.ndim - 1))
        off = values[rows] - self._judged.centre[rows].reshape(one_each)
        there = np.isfinite(off)
        weight = np.where(there, (1 / self._judged.error[rows] ** 2).reshape(one_each), 0.0)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray((np.where(there, off, 0.0) * weight).sum(axis=0) / weight.sum(axis=0))

    def _score(self, change: Change) -> float:
        """Return how much likelier it is that all of a group changed than that none did."""
        own, error = self._judged.effect[change.rows], self._judged.error[change.rows]
        effect = np.clip(change.effect, -LARGE, LARGE)
        own = np.clip(own, -LARGE, LARGE)
        ratio = (own**2 - (own - effect) ** 2) / (2 * error**2)
        if np.mean(ratio > 0) < LEAST_SHARE:
            return 0.0
        return float(np.clip(ratio, -_MOST_EVIDENCE, _MOST_EVIDENCE).sum())

    def _one_of(self, same: list[Change]) -> Change:
        """Return the change of single curves that changed together."""
        if len(same) == 1:
            return same[0]
        rows = np.sort(np.concatenate([one.rows for one in same]))
        return self.together(same[0].metric, [rows], [{}])[0]

    def _single(self, metric: str, rows: Indices) -> Change:
        """Return the change of one curve, by its most significant parameter."""
        low, high = self._judged.interval()
        row = rows[np.argmax(np.abs(self._judged.z[rows]))]
        return Change(
            metric,
            np.unique(self._curve[rows]),
            rows,
            float(self._judged.effect[row]),
            float(low[row]),
            float(high[row]),
            float(self._judged.z[row]),
            float(self._judged.p[row]),
            self._mean(np.array([row])),
        )
