"""Single values of other projects' tests, compared with their own history."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from switchpoint.history import dates
from switchpoint.history.accepted import Acceptance
from switchpoint.history.by_night import LaunchesByNight, by_night
from switchpoint.history.false_discovery import significant
from switchpoint.history.levels import normal_nights
from switchpoint.history.night import Draft
from switchpoint.history.policy import Policy
from switchpoint.history.presence import missing_values
from switchpoint.history.scatter import Judged, Nightly, compare
from switchpoint.history.words import effect_text, finding_id
from switchpoint.tables.columns import VALUE_SERIES
from switchpoint.tables.sweeps import Floats

#: Units of which less is better, in lower case; of all others with a `/s` more is.
_TIMES = frozenset("s sec seconds ms us usec ns min minutes h hours".split())  # noqa: SIM905


def found(
    values: pd.DataFrame,
    starts_utc: list[str],
    policy: Policy,
    acceptances: Iterable[Acceptance] = (),
) -> Iterator[Draft]:
    """Compare tonight's values with those of earlier nights.

    Parameters
    ----------
    values
        `Calendar.values`.
    starts_utc
        The start of each night, oldest first.
    policy
        What matters.
    acceptances
        What was before an accepted change is not compared.
    """
    if values.empty:
        return
    night = values["night"].to_numpy()
    grouped = values.groupby(VALUE_SERIES, dropna=False)
    series = grouped.ngroup().to_numpy()
    rows = values.groupby(series).last().to_dict("records")
    nights = len(starts_utc)
    excused = values["excused"].to_numpy()
    yield from _failed(values[(night == nights - 1) & ~excused])
    if nights < 2:
        return
    usable = (values["value"] > 0).to_numpy() & ~excused
    # Some series are 0 or less on any night; of the others it means that nothing was measured.
    usual = np.isin(series, series[~usable & ~excused & (night < nights - 1)])
    there = np.where(excused, night == nights - 1, usable | usual)  # excused is not missing
    for one in missing_values(series[there], night[there], nights):
        words = f"the value {rows[one]['variable']} of `{rows[one]['test']}` is missing"
        if (series[night == nights - 1] == one).any():
            words = f"{words}: it is 0 or less"
        yield _draft("missing_value", words, rows[one])
    logs = np.log(values["value"].to_numpy(dtype=float), where=usable, out=np.zeros(len(values)))
    shape = (len(rows), nights)
    nightly = by_night(series[usable], night[usable], logs[usable], shape)
    begins = _accepted(rows, acceptances, starts_utc[-1])
    nightly[np.array(starts_utc) < np.array(begins)[:, None]] = np.nan
    normal = normal_nights(nightly, policy.settled_after_nights)
    strata = pd.factorize(pd.Series([str(row["test"]) for row in rows]))[0]
    judged = compare(Nightly(LaunchesByNight.single(nightly), normal, strata))
    least = math.log1p(policy.minimum_effect.value)
    sure = significant(judged.p, policy.false_discovery_rate)
    for one in np.flatnonzero(sure & (np.abs(judged.effect) >= least)):
        yield _changed(rows[one], nightly[one], judged, int(one), starts_utc, policy)


def _accepted(
    rows: list[dict[Any, Any]], acceptances: Iterable[Acceptance], tonight_utc: str
) -> list[str]:
    """Return when the accepted change of each series began; empty without one."""
    begins = {
        one.finding_id: one.night_utc
        for one in reversed([*acceptances])  # of several, the newest counts
        if one.is_new_normal and one.session_utc < tonight_utc
    }

    def began(row: Mapping[Any, Any]) -> str:
        drafts = (_draft(kind, "", row) for kind in ("regression", "improvement"))
        ids = (finding_id(one.kind, one.metric, one.place, one.shared) for one in drafts)
        return max(begins.get(one, "") for one in ids)

    return [began(row) for row in rows] if begins else [""] * len(rows)


def _failed(values: pd.DataFrame) -> Iterator[Draft]:
    """Yield the values that failed by their test's own reference."""
    for row in values[values["result"] == "fail"].to_dict("records"):
        words = (
            f"{row['variable']} of `{row['test']}` is {row['value']:g} {row['unit']}, which fails"
            f" its own reference {row['reference']:g}"
        )
        yield _draft("failed_check", words, row)


def _changed(
    row: Mapping[Any, Any],
    nightly: Floats,
    judged: Judged,
    number: int,
    starts_utc: list[str],
    policy: Policy,
) -> Draft:
    low, high = (float(bound[number]) for bound in judged.interval())
    effect = float(judged.effect[number])
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
        since=dates.began(nightly, starts_utc),
    )


def direction(row: Mapping[Any, Any], policy: Policy) -> str | None:
    """Return whether `higher` or `lower` values of a series are better; None if not known."""
    unit = str(row["unit"])
    for name in (str(row["variable"]), unit):
        if name in policy.better:
            return policy.better[name]
    if unit.lower() in _TIMES:
        return "lower"
    if unit.lower().endswith(("/s", "/sec", "flops", "ops", "bps")):
        return "higher"
    has_lower, has_upper = pd.notna(row["lower"]), pd.notna(row["upper"])
    if has_lower != has_upper:
        return "higher" if has_lower else "lower"
    return None


def _draft(kind: str, words: str, row: Mapping[Any, Any], **more: Any) -> Draft:
    shared = {name: row[name] for name in VALUE_SERIES if isinstance(row[name], str)}
    place = (json.dumps(shared, sort_keys=True),)
    return Draft(kind, str(row["variable"]), words, place=place, shared=shared, **more)
