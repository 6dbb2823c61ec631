"""What changed in numbers: latency, bandwidth, noise, places of switches, and single sizes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import compress, filterfalse

import numpy as np
import pandas as pd

from switchpoint.data_warnings import DataWarning
from switchpoint.gating.baseline import USUAL_SCATTER, Series, compare
from switchpoint.gating.by_curve import ByCurve
from switchpoint.gating.consequences import (
    causes_of,
    follows_from,
    of_sizes,
    of_switches,
    words_of,
)
from switchpoint.gating.current import Current, Draft
from switchpoint.gating.factors import groups_of, variance_groups
from switchpoint.gating.levels import began, normal_sessions
from switchpoint.gating.odd_sizes import odd_sizes
from switchpoint.gating.parameters import (
    BANDWIDTH,
    LATENCY,
    METRICS,
    NOISE,
    Parameters,
    relative,
)
from switchpoint.gating.policy import Policy
from switchpoint.gating.search import Change, Evidence, Search
from switchpoint.gating.switches import ENOUGH_SESSIONS
from switchpoint.gating.words import effect_text, named, range_words, several, shared_by
from switchpoint.tables.sweeps import Floats, Indices
from switchpoint.tables.units import counted

#: Before there is a baseline: the scatter of noise from session to session, as a logarithm.
_USUAL_SCATTER_OF_NOISE = 0.5

#: `--power` tells what would be found after so many earlier sessions.
_POWER_SESSIONS = (1, 2, 3, 5, 10, 20, 30)

#: With fewer baseline sessions, the verdict says how little it can know.
_ENOUGH_SESSIONS = 5

#: A smallest visible change of this share is no limit: words say that none can be found.
_ANY_CHANGE = 10.0


def drafts(current: Current, curves: ByCurve | None, policy: Policy) -> Iterator[Draft]:
    """Compare the session's curves with those of the baseline sessions; None if there are none."""
    if curves is None:
        what = (
            "no earlier session measured the same, so nothing was compared; this is the first one"
        )
        current.limits.append(DataWarning("no_baseline", what))
        return
    parameters = curves.parameters
    variance_group = variance_groups(current.curves)
    every = np.ones(curves.rest.per_session.shape, dtype=bool)
    sizes = compare(Series(curves.rest, every, variance_group[curves.shapes.curve]))
    beside = np.r_[[switch.p for switch in curves.moved], sizes.p]
    evidence = _evidence(current, parameters, variance_group, beside, policy)
    search = Search(evidence)
    _say_limits(current, search)
    current.power.extend(search.power(_POWER_SESSIONS))
    for change in search.drifts():
        yield _draft(current, parameters, change, "slow_drift", [])
    changes = search.changes()
    sure = search.beside()
    moved = [*compress(curves.moved, sure)]
    least = math.log1p(policy.minimum_effect.time)
    odd = odd_sizes(sizes, sure[len(curves.moved) :], curves.slower, curves.shapes, least)
    if current.sessions.current < ENOUGH_SESSIONS:  # a switch that moved by one size looks the same
        odd = [size for size in odd if not size.beside_switch]
    for cause in causes_of(changes):
        follows = follows_from(cause)
        clauses = words_of(current, [*filter(follows, moved)], [*filter(follows, odd)])
        yield from _of_parameters(current, cause, evidence, search, clauses)
        moved = [*filterfalse(follows, moved)]
        odd = [*filterfalse(follows, odd)]
    yield from of_switches(current, curves.shapes, moved)
    yield from of_sizes(current, odd)


def _evidence(
    current: Current,
    parameters: Parameters,
    variance_group: Indices,
    beside: Floats,
    policy: Policy,
) -> Evidence:
    """Compare the parameters of all curves with their baselines."""
    metric = parameters.table["metric"].to_numpy()
    kind = pd.Categorical(metric, categories=METRICS).codes
    usual = np.where(metric == NOISE, _USUAL_SCATTER_OF_NOISE, USUAL_SCATTER)
    series = Series(
        parameters.launches,
        normal_sessions(parameters.per_session, policy.settled_after_sessions),
        variance_group[parameters.table["curve"]] * len(METRICS) + kind,
    )
    return Evidence(
        parameters,
        compare(series, usual),
        series.similar,
        groups_of(current.curves, current.nodes),
        beside,
        _least_effects(policy),
        policy.false_discovery_rate,
        policy.settled_after_sessions,
    )


def _least_effects(policy: Policy) -> dict[str, float]:
    """Return the smallest effects as logarithms of time."""
    least = policy.minimum_effect
    return {
        LATENCY: math.log1p(least.latency),
        BANDWIDTH: -math.log1p(-least.bandwidth),
        NOISE: math.log1p(least.noise),
    }


def _say_limits(current: Current, search: Search) -> None:
    """Say how little a short baseline can tell: the limits that `--power` prints."""
    sessions = current.sessions.current
    if sessions >= _ENOUGH_SESSIONS:
        return
    number = counted(sessions, "baseline session")
    for limit in search.power([sessions]):
        if limit["of"] != "curve":
            continue
        metric, least = limit["metric"], limit["least"]
        what = (
            f"a change of {metric} by less than {100 * least:.0f} % in one curve is not found"
            if least < _ANY_CHANGE
            else f"this machine is too unsteady to find a change of {metric} in one curve"
        )
        current.limits.append(DataWarning("short_baseline", f"only {number}: {what}"))
    if sessions < ENOUGH_SESSIONS:
        what = "a switch that moves by one size may be chance, and is not reported"
        current.limits.append(DataWarning("short_baseline", f"only {number}: {what}"))


def _of_parameters(
    current: Current,
    cause: list[Change],
    evidence: Evidence,
    search: Search,
    consequences: list[str],
) -> Iterator[Draft]:
    """Yield the finding of changes that are one, with what follows from them."""
    change, others = cause[0], cause[1:]
    if change.metric == NOISE:
        if change.effect > 0:
            yield _draft(current, evidence.parameters, change, "noisier", [])
        return
    for metric in (LATENCY, BANDWIDTH):
        if metric not in {part.metric for part in cause}:
            others += filter(None, [search.change_of(change.curves, metric)])
    clauses = [_other_words(other, change, evidence, current) for other in others]
    if len(cause) == 1 and len(others) == 1:
        change = _alone(change, others[0], evidence)
    kind = "regression" if change.effect > 0 else "improvement"
    yield _draft(current, evidence.parameters, change, kind, [*clauses, *consequences])


def _alone(change: Change, other: Change, evidence: Evidence) -> Change:
    """Return a change of one metric, of which the time has only a share if the other is unchanged.

    Where the sizes do not tell both, the time as a whole was compared.
    """
    rest = float(evidence.parameters.table["rest"].to_numpy()[change.rows].mean())
    unchanged = max(abs(other.low), abs(other.high)) < evidence.least[other.metric]
    bounds = np.exp([change.effect, change.low, change.high])
    if not unchanged or bounds.min() <= rest:
        return change
    effect, low, high = np.log((bounds - rest) / (1 - rest)).tolist()
    return replace(change, effect=effect, low=low, high=high)


def _draft(
    current: Current, parameters: Parameters, change: Change, kind: str, clauses: list[str]
) -> Draft:
    shared = shared_by(current.curves, change.curves, change.node)
    low, high = sorted(relative(change.metric, value) for value in (change.low, change.high))
    first, last, smallest, largest = _sizes(parameters, change)
    effect = relative(change.metric, change.effect)
    where = "" if change.metric == NOISE else range_words(first, last, smallest, largest)
    sentence = (
        f"{change.metric} of {named(current.curves, change.curves, shared)}{where}"
        f" {effect_text(effect, low, high)}{several(change.curves)}"
    )
    if kind == "slow_drift":
        sentence += f", little by little over {counted(len(change.series), 'session')}"
    return Draft(
        kind,
        change.metric,
        "; ".join([sentence, *clauses]),
        change.curves,
        _place(first, last, smallest, largest),
        shared,
        first,
        last,
        effect,
        low,
        high,
        () if kind == "slow_drift" else began(change.series, current.sessions.starts_utc),
    )


def _sizes(parameters: Parameters, change: Change) -> tuple[int, int, int, int]:
    rows = parameters.table.iloc[change.rows]
    return (
        int(rows["first_size_bytes"].min()),
        int(rows["last_size_bytes"].max()),
        int(rows["smallest_bytes"].min()),
        int(rows["largest_bytes"].max()),
    )


def _place(first: int, last: int, smallest: int, largest: int) -> tuple[int | str, ...]:
    return (first if first > smallest else "start", last if last < largest else "end")


def _other_words(change: Change, main: Change, evidence: Evidence, current: Current) -> str:
    """Write what the other metric of the same curves, or of some of them, did."""
    low, high = change.low, change.high
    least = evidence.least[change.metric]
    some = ""
    if len(change.curves) < len(main.curves):
        some = (
            f" of {named(current.curves, change.curves, shared_by(current.curves, change.curves))}"
        )
    if abs(change.effect) >= least and (low > 0 or high < 0):
        bounds = sorted(relative(change.metric, value) for value in (low, high))
        where = range_words(*_sizes(evidence.parameters, change))
        words = effect_text(relative(change.metric, change.effect), *bounds)
        return f"{change.metric}{some}{where} {words}"
    known = max(abs(low), abs(high))
    if known <= 3 * least:
        return f"{change.metric}{some} unchanged"
    return f"{change.metric}{some} not known to {100 * math.expm1(min(known, 5.0)):.0f} %"
