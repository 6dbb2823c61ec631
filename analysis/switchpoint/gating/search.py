"""The fewest explanations of what changed: one loop over one family of tests.

A slow link moves hundreds of curves together. Testing what they share is more powerful than testing
each, and one finding says more than hundreds. So the loop takes the change of the group that
explains most, subtracts it, and goes on with the rest, down to single curves. Groups, single
parameters, drifts, switches that moved and single sizes are one family of tests, with one false
discovery rate (Benjamini and Hochberg 1995).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from switchpoint.gating.baseline import (
    Series,
    TestResult,
    compare,
    false_discovery_control,
    visible,
)
from switchpoint.gating.by_session import LaunchesBySession
from switchpoint.gating.drift import drifts
from switchpoint.gating.factors import NODE, Group, first_fit, within_an_octave
from switchpoint.gating.levels import normal_sessions
from switchpoint.gating.parameters import BANDWIDTH, LATENCY, Parameters, main_segments, relative
from switchpoint.gating.verdict import Power
from switchpoint.tables.sweeps import Floats, Indices

#: Of the curves that may have changed together, at least this share did.
_LEAST_SHARE = 0.6

#: Changes count at most so many times what matters when they are compared: a slow node makes one
#: mode twice as slow, and another twenty times, and both changed together.
_LARGE = 8.0

#: Members that scatter independently scatter less together. Before there is a baseline, it is
#: assumed that they scatter together by this share of what one does.
_TOGETHER = 0.7

#: More groups are not looked for.
_MOST_GROUPS = 36


@dataclass(frozen=True)
class Change:
    """A change of one metric that some curves have in common.

    Attributes
    ----------
    metric : str
    curves : array of int
        The curves that changed.
    rows : array of int
        Their parameters.
    effect, low, high : float
        The logarithm of the ratio to the baseline, with its 95 % interval. More is worse.
    p : float
        The probability of the effect by chance.
    series : array of float
        The same ratio in each session.
    shared : dict
        What the curves of its group share, by factor.
    scatter : float
        Standard deviation of the series from session to session.
    """

    metric: str
    curves: Indices
    rows: Indices
    effect: float
    low: float
    high: float
    p: float
    series: Floats = field(repr=False)
    shared: Mapping[str, str] = field(default_factory=dict)
    scatter: float = np.nan

    @property
    def node(self) -> str | None:
        """The node that all of its group share and others do not."""
        return self.shared.get(NODE)


@dataclass(frozen=True)
class Evidence:
    """All that is tested, and what counts as a change.

    Attributes
    ----------
    parameters, test
        Latency, bandwidth and noise of curves, and how each compares with its baseline.
    variance_group : array of int
        Parameters with the same number scatter alike.
    groups : sequence of Group
        The curves that may have changed together.
    beside : array of float
        The p-values of what else is tested: switches that moved, and single sizes.
    least : dict
        The smallest effect that matters by metric, as a logarithm.
    rate : float
        The false discovery rate.
    settled_after : int
        A level is normal after so many sessions.
    """

    parameters: Parameters
    test: TestResult
    variance_group: Indices
    groups: Sequence[Group]
    beside: Floats
    least: Mapping[str, float]
    rate: float
    settled_after: int


class _Family(NamedTuple):
    """The p-values of groups, single parameters, drifts, and of moved switches and single sizes."""

    groups: Floats
    parameters: Floats
    drifts: Floats
    beside: Floats


class Search:
    """What no change explains yet, and the groups that may explain it."""

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self._test, self._parameters = evidence.test, evidence.parameters
        table = evidence.parameters.table
        self._metric, self._curve = table["metric"].to_numpy(), table["curve"].to_numpy()
        self._free = np.isfinite(evidence.test.effect)
        self._main = main_segments(table)
        self._scopes = {metric: [*self._scopes_of(metric)] for metric in evidence.least}
        self._known: dict[tuple[str, bytes], Change] = {}
        self._low, self._high = evidence.test.interval()
        self._left: bytes | None = None
        self._candidates_left: list[Change] = []
        candidates = self._candidates()
        self._drifts, others = self._drifts_of(candidates)
        self._drift_p = np.r_[[drift.p for drift in self._drifts], np.ones(others)]

    def changes(self) -> list[Change]:
        """Return the changes of groups, those that explain most first, then of single curves."""
        groups: list[Change] = []
        while len(groups) < _MOST_GROUPS and (best := self._best_group()):
            self._free[self.rows(best.curves, best.metric)] = False
            groups.append(best)
        return groups + self._singles()

    def drifts(self) -> list[Change]:
        """Return what became worse session by session, which a line explains better than a level.

        The effect is the rise from the first session to the last. Groups come first, the largest
        before the others; each curve is in one of them. They are subtracted.
        """
        p = self._adjusted().drifts[: len(self._drifts)]
        sure = [*compress(self._drifts, p <= self._evidence.rate)]
        changes: list[Change] = []
        for drift in sorted(sure, key=lambda drift: -len(drift.curves)):
            matters = drift.low > 0 and drift.effect >= self._evidence.least[drift.metric]
            if matters and self._free[drift.rows].all():
                self._free[self.rows(drift.curves, drift.metric)] = False
                changes.append(drift)
        return changes

    def beside(self) -> npt.NDArray[np.bool_]:
        """Return which of the switches and single sizes count."""
        return self._adjusted().beside <= self._evidence.rate

    def power(self, sessions: Sequence[int]) -> Iterator[Power]:
        """Yield the smallest changes that are found after so many earlier sessions.

        Of one curve that scatters as half of them do, and of all curves of a placement. They are
        for a change by itself: of several the threshold is lower.
        """
        tests = len(self._known) + sum(map(len, (self._free, self._drift_p, self._evidence.beside)))
        p = self._evidence.rate / max(tests, 1)
        for metric in (LATENCY, BANDWIDTH):
            of_metric = (self._metric == metric) & np.isfinite(self._test.effect)
            of_curves = self._test.scatter[of_metric]
            of_groups = [
                group.scatter
                for (name, _), group in self._known.items()
                if name == metric and {*group.shared} == {"placement"}
            ]
            for what, scatters in (("curve", of_curves), ("placement", of_groups)):
                for number in sessions if len(scatters) else ():
                    least = visible(float(np.median(scatters)), number, p)
                    least = abs(relative(metric, max(least, self._evidence.least[metric])))
                    yield {"metric": metric, "of": what, "sessions": number, "least": least}

    def change_of(self, curves: Indices, metric: str) -> Change | None:
        """Measure how much a metric of some curves changed together, significant or not."""
        rows = self.rows(curves, metric)
        return self._together(metric, [rows], [{}])[0] if len(rows) else None

    def rows(self, curves: Indices, metric: str) -> Indices:
        """Return the parameters of some curves that no change explains yet."""
        inside = np.zeros(int(max(self._curve.max(initial=0), curves.max(initial=0))) + 1, bool)
        inside[curves] = True
        return np.flatnonzero(self._free & (self._metric == metric) & inside[self._curve])

    def _adjusted(self) -> _Family:
        """Return the p-values of all tests, adjusted for their number."""
        family = _Family(
            np.array([group.p for group in self._candidates()]),
            np.where(self._free, self._test.p, 1.0),
            self._drift_p,
            self._evidence.beside,
        )
        adjusted = false_discovery_control(np.concatenate(family))
        return _Family(*np.split(adjusted, np.cumsum([len(p) for p in family[:-1]])))

    def _best_group(self) -> Change | None:
        """Return the change of the group that explains most, if it is significant."""
        candidates = self._candidates()
        price = np.log(max(len(candidates), 1))
        best, most = None, 0.0
        for group, p in zip(candidates, self._adjusted().groups, strict=True):
            if p <= self._evidence.rate and abs(group.effect) >= self._evidence.least[group.metric]:
                gain = self._gain(group) - price
                if gain > most:
                    best, most = group, gain
        return best

    def _gain(self, change: Change) -> float:
        """Return how much likelier it is that all of a group changed than that none did."""
        effects, error = self._test.effect[change.rows], self._test.error[change.rows]
        large = _LARGE * self._evidence.least[change.metric]
        effect = np.clip(change.effect, -large, large)
        effects = np.clip(effects, -large, large)
        ratio = (effects**2 - (effects - effect) ** 2) / (2 * error**2)
        if np.mean(ratio > 0) < _LEAST_SHARE:
            return 0.0
        return float(ratio.sum())

    def _candidates(self) -> list[Change]:
        """Return how each group changed, as far as no change explains its curves yet.

        Once in each scope: all segments of its curves, the main ones, and those of about the same
        sizes.
        """
        left = self._free.tobytes()
        if self._left != left:
            self._left, self._candidates_left = left, self._candidates_of_the_rest()
        return self._candidates_left

    def _candidates_of_the_rest(self) -> list[Change]:
        wanted: dict[tuple[str, bytes], tuple[Indices, Mapping[str, str]]] = {}
        for metric, scopes in self._scopes.items():
            for group in self._evidence.groups:
                rows = self.rows(group.curves, metric)
                for scope in scopes:
                    some = rows[scope[rows]]
                    key = (metric, some.tobytes())
                    if key not in wanted and len(np.unique(self._curve[some])) > 1:
                        wanted[key] = some, group.shared
        for metric in self._scopes:
            new = [key for key in wanted if key not in self._known and key[0] == metric]
            if new:
                members, shared = zip(*(wanted[key] for key in new), strict=True)
                self._known |= zip(new, self._together(metric, members, shared), strict=True)
        return [self._known[key] for key in wanted]

    def _scopes_of(self, metric: str) -> Iterator[npt.NDArray[np.bool_]]:
        """Yield which parameters of a metric are compared together."""
        of_metric = self._metric == metric
        yield of_metric
        yield of_metric & self._main
        first, last = (
            self._parameters.table[name].to_numpy()
            for name in ("first_size_bytes", "last_size_bytes")
        )
        others = np.unique(np.c_[first, last][of_metric & ~self._main], axis=0).tolist()

        def belongs(scope: list[list[int]], sizes: list[int]) -> bool:
            return bool(within_an_octave(np.array(sizes), np.array(scope[0])).all())

        for scope in first_fit(others, belongs):
            each = [(first == smallest) & (last == largest) for smallest, largest in scope]
            yield of_metric & ~self._main & np.logical_or.reduce(each)

    def _singles(self) -> list[Change]:
        """Return the changes of single curves."""
        least = np.array([self._evidence.least[metric] for metric in self._metric])
        sure = self._free & (self._adjusted().parameters <= self._evidence.rate)
        sure &= np.abs(np.nan_to_num(self._test.effect)) >= least
        pairs = dict.fromkeys(zip(self._metric[sure], self._curve[sure], strict=True))
        return [
            self._single(
                metric, np.flatnonzero(sure & (self._metric == metric) & (self._curve == curve))
            )
            for metric, curve in pairs
        ]

    def _single(self, metric: str, rows: Indices) -> Change:
        """Return the change of one curve, by its most significant parameter."""
        row = rows[np.argmin(self._test.p[rows])]
        return Change(
            metric,
            np.unique(self._curve[rows]),
            rows,
            float(self._test.effect[row]),
            float(self._low[row]),
            float(self._high[row]),
            float(self._test.p[row]),
            self._mean(np.array([row])),
        )

    def _drifts_of(self, candidates: Sequence[Change]) -> tuple[list[Change], int]:
        """Return how groups, and single curves in their main segments, rise session by session.

        Return also how many did not: they are tests too.
        """
        rows = np.flatnonzero(self._free & self._main & np.isin(self._metric, [LATENCY, BANDWIDTH]))
        groups = [group for group in candidates if group.metric in (LATENCY, BANDWIDTH)]
        if not len(rows):
            return [], 0
        similar = _similar([group.shared for group in groups])
        similar = np.r_[similar, similar.max(initial=-1) + 1 + self._evidence.variance_group[rows]]
        alone = self._parameters.per_session[rows] - self._test.centre[rows, None]
        series = np.concatenate([*(group.series[None] for group in groups), alone])
        rising = []
        for number, drift in drifts(series, similar, self._evidence.rate).items():
            if number < len(groups):
                change = groups[number]
            else:
                row = rows[[number - len(groups)]]
                change = self._single(str(self._metric[row[0]]), row)
            rising.append(
                replace(change, effect=drift.rise, low=drift.low, high=drift.high, p=drift.p)
            )
        return rising, len(series) - len(rising)

    def _together(
        self, metric: str, rows: Sequence[Indices], shared: Sequence[Mapping[str, str]]
    ) -> list[Change]:
        """Compare groups of parameters, each as one, with their baseline.

        Groups that share values of the same factors are similar, so that a few sessions tell how
        much they scatter.
        """
        series = np.stack([self._mean(some) for some in rows])
        # The sessions of a group are compared with each other, so what its curves have in common
        # from session to session is part of its scatter.
        usual = np.array([_TOGETHER * np.median(self._test.scatter[some]) for some in rows])
        normal = normal_sessions(series, self._evidence.settled_after)
        launches = LaunchesBySession.single(series)
        launches = replace(launches, each=np.stack([self._mean_launches(some) for some in rows]))
        test = compare(Series(launches, normal, _similar(shared)), usual)
        low, high = test.interval()
        return [
            Change(
                metric,
                np.unique(self._curve[some]),
                some,
                float(test.effect[number]),
                float(low[number]),
                float(high[number]),
                float(test.p[number]),
                series[number],
                shared[number],
                float(test.scatter[number]),
            )
            for number, some in enumerate(rows)
        ]

    def _mean(self, rows: Indices) -> Floats:
        """Return the weighted mean of some parameters in each session, relative to the levels."""
        return self._weighted(self._parameters.per_session, rows)

    def _mean_launches(self, rows: Indices) -> Floats:
        """Return the same mean of the first launches of all curves, the second, and so on."""
        return self._weighted(self._parameters.launches.each, rows)

    def _weighted(self, values: npt.NDArray[np.floating[Any]], rows: Indices) -> Floats:
        one_each = (-1, *[1] * (values.ndim - 1))
        off = values[rows] - self._test.centre[rows].reshape(one_each)
        there = np.isfinite(off)
        weight = np.where(there, (1 / self._test.error[rows] ** 2).reshape(one_each), 0.0)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray((np.where(there, off, 0.0) * weight).sum(axis=0) / weight.sum(axis=0))


def _similar(shared: Sequence[Mapping[str, str]]) -> Indices:
    """Number groups by the factors whose values they share: such groups are similar."""
    kinds: dict[frozenset[str], int] = {}
    return np.array([kinds.setdefault(frozenset(some), len(kinds)) for some in shared], dtype=int)
