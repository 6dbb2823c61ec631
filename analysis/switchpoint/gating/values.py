"""Single values of other projects' tests, compared with their own baseline."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from switchpoint.gating.accepted import Acceptance
from switchpoint.gating.baseline import Series, TestResult, compare, false_discovery_control
from switchpoint.gating.by_session import LaunchesBySession, by_session
from switchpoint.gating.current import Draft
from switchpoint.gating.drift import drifts
from switchpoint.gating.levels import began, normal_sessions
from switchpoint.gating.policy import Policy
from switchpoint.gating.presence import missing_values
from switchpoint.gating.words import effect_text, finding_id
from switchpoint.tables.columns import VALUE_SERIES, Value, records, rows_by, values_of
from switchpoint.tables.sweeps import Floats

#: More variables of a test are not named.
_MOST_LISTED = 3

#: Units of which less is better, in lower case; of all others with a `/s` more is.
_TIMES = frozenset("s sec seconds ms us usec ns min minutes h hours".split())  # noqa: SIM905


def drafts(
    values: pd.DataFrame,
    starts_utc: list[str],
    policy: Policy,
    acceptances: Iterable[Acceptance],
) -> Iterator[Draft]:
    """Compare the current session's values with those of baseline sessions.

    Parameters
    ----------
    values
        `Calendar.values`.
    starts_utc
        The start of each session, oldest first.
    policy
        What matters.
    acceptances
        What was before an accepted change is not compared.
    """
    if values.empty:
        return
    session = values["session_number"].to_numpy()
    grouped = values.groupby(VALUE_SERIES, dropna=False)
    series = grouped.ngroup().to_numpy()
    rows = records(values.groupby(series).last(), Value)
    sessions = len(starts_utc)
    excused = values["excused"].to_numpy()
    yield from _failed(values[(session == sessions - 1) & ~excused])
    if sessions < 2:
        return
    usable = (values["value"] > 0).to_numpy() & ~excused
    # Some series are 0 or less in any session; of the others it means that nothing was measured.
    usual = np.isin(series, series[~usable & ~excused & (session < sessions - 1)])
    there = np.where(excused, session == sessions - 1, usable | usual)  # excused is not missing
    missing = missing_values(series[there], session[there], sessions)
    not_positive = np.isin(missing, series[session == sessions - 1])
    yield from _missing([rows[number] for number in missing[~not_positive]], "")
    yield from _missing([rows[number] for number in missing[not_positive]], ": {} 0 or less")
    logs = np.log(values["value"].to_numpy(dtype=float), where=usable, out=np.zeros(len(values)))
    shape = (len(rows), sessions)
    per_session = by_session(series[usable], session[usable], logs[usable], shape)
    begins = _accepted(rows, acceptances, starts_utc[-1])
    per_session[np.array(starts_utc) < np.array(begins)[:, None]] = np.nan
    yield from _compared(rows, per_session, starts_utc, policy)


def _compared(
    rows: list[Value], per_session: Floats, starts_utc: list[str], policy: Policy
) -> Iterator[Draft]:
    """Yield the series that changed, or become worse session by session."""
    normal = normal_sessions(per_session, policy.settled_after_sessions)
    of_test = pd.factorize(pd.Series([str(row["test"]) for row in rows]))[0]
    test = compare(Series(LaunchesBySession.single(per_session), normal, of_test))
    least = math.log1p(policy.minimum_effect.value)
    ways = np.array([-1.0 if direction(row, policy) == "higher" else 1.0 for row in rows])
    drifting = drifts(ways[:, None] * per_session, of_test, policy.false_discovery_rate)
    p = np.r_[
        test.p, [drifting[number].p if number in drifting else 1.0 for number in range(len(rows))]
    ]
    sure = false_discovery_control(p) <= policy.false_discovery_rate
    changed = sure[: len(rows)] & (np.abs(np.nan_to_num(test.effect)) >= least)
    for number in np.flatnonzero(changed).tolist():
        yield _changed(rows[number], per_session[number], test, number, starts_utc, policy)
    for number, drift in drifting.items():
        sure_drift = sure[len(rows) + number] and not changed[number] and drift.low > 0
        if sure_drift and drift.rise >= least and direction(rows[number], policy):
            known = (drift.rise, drift.low, drift.high)
            effect, *bounds = (math.expm1(ways[number] * value) for value in known)
            yield _drifted(rows[number], (effect, min(bounds), max(bounds)), len(starts_utc))


def _missing(rows: list[Value], why: str) -> Iterator[Draft]:
    """Yield one finding for all values that are missing of a test."""
    names = [name for name in VALUE_SERIES if name not in ("variable", "unit")]
    for same in rows_by(rows, names).values():
        test, number = same[0]["test"], len(same)
        if number == 1:
            words = f"the value {same[0]['variable']} of `{test}` is missing{why.format('it is')}"
            yield _draft("missing_value", words, same[0])
            continue
        variables = sorted(str(row["variable"]) for row in same)
        listed = ", ".join(variables[:_MOST_LISTED])
        more = f" and {number - _MOST_LISTED} more" if number > _MOST_LISTED else ""
        shared = _known(same[0], names)
        yield Draft(
            "missing_value",
            "",
            f"{number} values of `{test}` are missing{why.format('they are')} ({listed}{more})",
            key=(json.dumps([shared, variables], sort_keys=True),),
            shared=shared,
        )


def _drifted(row: Value, change: tuple[float, float, float], sessions: int) -> Draft:
    effect, low, high = change
    words = f"{row['variable']} of `{row['test']}` {effect_text(effect, low, high)}"
    words += f", little by little over {sessions} sessions"
    return _draft("slow_drift", words, row, effect=effect, low=low, high=high)


def _accepted(rows: list[Value], acceptances: Iterable[Acceptance], current_utc: str) -> list[str]:
    """Return when the accepted change of each series began; empty without one."""
    begins = {
        acceptance.finding_id: acceptance.began_utc
        for acceptance in reversed([*acceptances])  # of several, the newest counts
        if acceptance.is_new_normal and acceptance.session_utc < current_utc
    }

    def began(row: Value) -> str:
        possible = (_draft(kind, "", row) for kind in ("regression", "improvement", "slow_drift"))
        ids = (finding_id(draft.kind, draft.metric, draft.key, draft.shared) for draft in possible)
        return max(begins.get(known, "") for known in ids)

    return [began(row) for row in rows] if begins else [""] * len(rows)


def _failed(values: pd.DataFrame) -> Iterator[Draft]:
    """Yield the values that failed by their test's own reference."""
    for row in records(values[values["result"] == "fail"], Value):
        reference = math.nan if row["reference"] is None else row["reference"]
        words = (
            f"{row['variable']} of `{row['test']}` is {row['value']:g} {row['unit']}, which fails"
            f" its own reference {reference:g}"
        )
        yield _draft("failed_check", words, row)


def _changed(
    row: Value,
    per_session: Floats,
    test: TestResult,
    number: int,
    starts_utc: list[str],
    policy: Policy,
) -> Draft:
    low, high = (float(bound[number]) for bound in test.interval())
    effect = float(test.effect[number])
    better = direction(row, policy)
    worse = better is None or (effect < 0) == (better == "higher")
    relative = [math.expm1(value) for value in (effect, low, high)]
    words = f"{row['variable']} of `{row['test']}` {effect_text(*relative)}"
    if better is None:
        words += "; which direction is better is not known, see `better` in gate.yaml"
    return _draft(
        "regression" if worse else "improvement",
        words,
        row,
        effect=relative[0],
        low=relative[1],
        high=relative[2],
        since=began(per_session, starts_utc),
    )


def direction(row: Value, policy: Policy) -> str | None:
    """Return whether `higher` or `lower` values of a series are better; None if not known."""
    unit = str(row["unit"])
    for name in (str(row["variable"]), unit):
        if name in policy.better:
            return policy.better[name]
    if unit.lower() in _TIMES:
        return "lower"
    if unit.lower().endswith(("/s", "/sec", "flops", "ops", "bps")):
        return "higher"
    has_lower, has_upper = row["lower"] is not None, row["upper"] is not None
    if has_lower != has_upper:
        return "higher" if has_lower else "lower"
    return None


def _known(row: Value, names: Sequence[str]) -> dict[str, str]:
    values = zip(names, values_of(row, names), strict=True)
    return {name: value for name, value in values if isinstance(value, str)}


def _draft(kind: str, words: str, row: Value, **more: Any) -> Draft:
    shared = _known(row, VALUE_SERIES)
    key = (json.dumps(shared, sort_keys=True),)
    return Draft(kind, str(row["variable"]), words, key=key, shared=shared, **more)
