"""What earlier gates reported of the same curves: a change that goes on, one that comes back.

A change keeps its ID, its kind and its date for its run of sessions, by its curves. One that went
away and is back is reported with the sessions that had it. One that nobody accepted until it became
the level of the baseline is reported in the session in which it does.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from switchpoint.data_warnings import DataWarning
from switchpoint.gating.accepted import identity_text
from switchpoint.gating.kinds import ACCEPTED, CHANGES, GateFinding
from switchpoint.gating.stored_findings import decoded, stored_findings
from switchpoint.gating.words import finding_id
from switchpoint.store.store import Store
from switchpoint.tables.units import counted

#: Findings are of the same curves if at least this share of those of either is.
_SAME_CURVES = 0.5

#: A change goes on if it was reported in one of so many sessions before.
_NEWEST = 2

#: Metrics of which one may be named for the other: a slower link is both at some sizes.
_TIMES = frozenset({"latency", "bandwidth", "time"})

#: What a change keeps.
_KEPT = ("finding_id", "kind", "since_utc", "since_low_utc", "since_high_utc")


@dataclass(frozen=True)
class Reported:
    """A change that the gate reported in an earlier session.

    Attributes
    ----------
    row : GateFinding
    accepted : bool
        Whether anybody accepted it.
    curves : frozenset of str
        The identities of its curves; of a single value, what identifies it.
    """

    row: GateFinding
    accepted: bool
    curves: frozenset[str]

    @property
    def started(self) -> str:
        """The start of the session that had it."""
        return self.row["time_utc"]


def reported(store: Store, before_utc: str) -> list[Reported]:
    """Return the changes that gates reported of sessions before a time, newest session first."""
    table = stored_findings(store)
    table = table[table["kind"].isin(CHANGES) & (table["time_utc"].astype(str) < before_utc)]
    accepted = {*table.loc[table["state"] == ACCEPTED, "finding_id"]}
    table = table.drop_duplicates(["finding_id", "session"], keep="last")
    return [
        Reported(
            row,
            row["finding_id"] in accepted,
            _curves(row["curves"], row["shared"]),
        )
        for row in decoded(table.sort_values("time_utc", ascending=False))
    ]


def continued(
    rows: Iterable[GateFinding], earlier: Sequence[Reported], starts_utc: Sequence[str]
) -> list[GateFinding]:
    """Return findings, those that go on with their ID, kind and date, those that recur so named.

    Parameters
    ----------
    rows
        Of the current session.
    earlier
        As from `reported`.
    starts_utc
        The start of each session, the current one last.
    """
    newest = {*starts_utc[-1 - _NEWEST : -1]}
    taken: set[str] = set()
    described = []
    for row in rows:
        curves = _curves(row["curves"], row["shared"])
        same = [
            change for change in earlier if row["kind"] in CHANGES and _is_same(row, curves, change)
        ]
        fresh = [change.row for change in same if change.started in newest]
        before = next((kept for kept in fresh if kept["finding_id"] not in taken), None)
        if before is not None:
            taken.add(before["finding_id"])
            keeps = {
                name: fact for name, fact in before.items() if name in _KEPT and fact is not None
            }
            row = cast("GateFinding", {**row, **keeps})
        elif same:
            row = {**row, "sentence": f"{row['sentence']}; {_as_before(same)}"}
        described.append(row)
    ids: set[str] = set()
    for row in described:
        if row["finding_id"] in ids:  # another finding goes on under the ID that it would have
            row["finding_id"] = finding_id(row["kind"], row["metric"], (row["sentence"],), {})
        ids.add(row["finding_id"])
    return described


def settled(
    rows: Iterable[GateFinding],
    earlier: Sequence[Reported],
    starts_utc: Sequence[str],
    after: int,
) -> list[DataWarning]:
    """Say which failures of the session before are the level of the baseline from this one on."""
    now = {row["finding_id"] for row in rows}
    warnings = []
    for change in earlier:
        if len(starts_utc) < 2 or change.started != starts_utc[-2]:
            continue
        row = change.row
        since = row["since_utc"] or change.started
        lasted = sum(since <= start < starts_utc[-1] for start in starts_utc)
        fails = row["fails"] and not change.accepted
        if fails and row["finding_id"] not in now and lasted >= after:
            what = (
                f"{row['finding_id']} is the new level after {counted(lasted, 'session')}, and"
                f" fails no more, though nobody accepted it: {row['sentence']}"
            )
            warnings.append(DataWarning("new_level", what))
    return warnings


def _curves(curves: Sequence[Mapping[str, str]], shared: Mapping[str, str]) -> frozenset[str]:
    return frozenset(map(identity_text, curves or [shared]))


def _is_same(row: GateFinding, curves: frozenset[str], change: Reported) -> bool:
    """Whether an earlier finding has about the same curves, metric and direction."""
    metrics = {row["metric"], change.row["metric"]}
    if len(metrics) > 1 and not metrics <= _TIMES:
        return False
    effects = [
        -which["effect"] if which["metric"] == "bandwidth" else which["effect"]
        for which in (row, change.row)
    ]
    if any(map(math.isnan, effects)) or (effects[0] > 0) != (effects[1] > 0):
        return False
    return len(curves & change.curves) >= _SAME_CURVES * max(len(curves), len(change.curves))


def _as_before(same: Sequence[Reported]) -> str:
    days = list(dict.fromkeys(change.started[:10] for change in same))
    more = f" and in {counted(len(days) - 1, 'earlier session')}" if len(days) > 1 else ""
    return f"as on {days[0]}{more}"
