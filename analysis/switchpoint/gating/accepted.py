"""Findings that someone accepted: who, when, why, until when; kept in the store."""

from __future__ import annotations

import getpass
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import pandas as pd

from switchpoint.data_warnings import DataWarning
from switchpoint.errors import InputError
from switchpoint.gating.kinds import ABSENCES, ACCEPTED, CHANGES, CONFIRMED, KINDS, GateFinding
from switchpoint.gating.stored_findings import StoredFinding, decoded, stored_findings
from switchpoint.store.ledger import now_utc
from switchpoint.store.not_taken import not_taken_of
from switchpoint.store.store import Store

#: Findings of the same kind and metric are the same if at least this share of the curves is.
_SAME_CURVES = 0.8

#: An accepted effect may grow to so many times itself before it is a new finding.
_MOST_OF_EFFECT = 1.5


@dataclass(frozen=True)
class Acceptance:
    """One accepted finding.

    Attributes
    ----------
    finding_id, kind, metric, session, session_utc : str
        The finding, and the session that showed it with its start.
    began_utc : str
        When the change began, at the latest that start. An accepted change is
        normal from then on.
    curves : frozenset of str
        The identities of its curves, as JSON.
    effect : float
        NaN if it has none.
    by, reason : str
    accepted_utc, until : str
        When, and the last day on which it counts; empty for ever.
    shared : dict
        What its curves have in common.
    """

    finding_id: str
    kind: str
    metric: str
    session: str
    session_utc: str
    began_utc: str
    curves: frozenset[str]
    effect: float
    by: str
    reason: str
    accepted_utc: str
    until: str = ""
    shared: Mapping[str, str] = field(default_factory=dict)

    @property
    def words(self) -> str:
        """The acceptance as people read it."""
        until = f" until {self.until}" if self.until else ""
        return f"accepted by {self.by} on {self.accepted_utc[:10]}{until}: {self.reason}"

    @property
    def is_new_normal(self) -> bool:
        """Whether the values since then are what later sessions are compared with."""
        return self.kind in CHANGES and not self.until

    def covers(self, row: GateFinding) -> bool:
        """Whether a finding of the same curves is no more than what was accepted.

        What follows an accepted change is compared with it, so it is something new, unless it began
        with it in other curves. Of what is missing, neither another curve nor a larger share was
        accepted.
        """
        if self.is_new_normal and row["session"] != self.session:
            return self._began_with(row)
        if self.kind in CHANGES:
            return self._is_no_larger(row)
        if not frozenset(map(identity_text, row["curves"])) <= self.curves:
            return False
        if self.kind not in ABSENCES or math.isnan(self.effect):
            return True
        return bool(row["effect"] >= self.effect)

    def is_wider(self, row: GateFinding) -> bool:
        """Whether a finding is of other curves that share what the accepted ones share.

        A change that was accepted may show in some of its curves a session later only.
        """
        if not self.is_new_normal or row["kind"] not in CHANGES or not self.shared:
            return False
        inside = self.shared.items() <= {**row["shared"]}.items()
        return inside and row["metric"] == self.metric and self._began_with(row)

    def _began_with(self, row: GateFinding) -> bool:
        """Whether a later finding began with the accepted one, in curves that it did not have."""
        curves = frozenset(map(identity_text, row["curves"]))
        since = row["since_low_utc"]
        began = since is not None and since <= self.session_utc
        return began and not curves <= self.curves and self._is_no_larger(row)

    def _is_no_larger(self, row: GateFinding) -> bool:
        share = row["effect"] / self.effect
        return math.isnan(share) or bool(0 <= share <= _MOST_OF_EFFECT)


def accept(
    store: Store | str,
    finding: str,
    reason: str,
    *,
    by: str | None = None,
    until: str | date | None = None,
) -> dict[str, Any]:
    """Accept a finding, so that it fails the gate no more.

    Parameters
    ----------
    store
        The store, or its folder or URL.
    finding
        The first digits of its `finding_id`, as `gate` shows it.
    reason
        Why, for all who see it later.
    by
        Who; by default the user.
    until
        The last day on which it counts, by default for ever. An accepted change without a last day
        is what later sessions are compared with.

    Returns
    -------
    dict
        The stored row.

    Raises
    ------
    InputError
        If the store has no such finding, the reason is empty, or the day is not one or is over.
    """
    [accepted] = accept_all(store, [finding], reason, by=by, until=until)
    return accepted


def accept_all(
    store: Store | str,
    findings: Sequence[str],
    reason: str,
    *,
    by: str | None = None,
    until: str | date | None = None,
) -> list[dict[str, Any]]:
    """Accept several findings for the same reason.

    Parameters
    ----------
    findings
        Of each the first digits of its `finding_id`; or a kind of findings, such as
        `missing_value`: all of this kind that fail in the session that was judged last.
    store, reason, by, until
        As for `accept`.

    Returns
    -------
    list of dict
        The stored rows.
    """
    store = store if isinstance(store, Store) else Store(store)
    if not reason.strip():
        raise InputError("--reason", "is empty; say why the finding is accepted")
    last_day = _day(until)
    rows = {str(row["finding_id"]): row for name in findings for row in _find(store, name)}
    accepted = [
        {
            **{name: value for name, value in row.items() if not _is_null(value)},
            "state": ACCEPTED,
            "reason": reason.strip(),
            "accepted_by": (by or _user()).strip(),
            "accepted_utc": now_utc(),
            "accepted_until": last_day,
            "fails": False,
        }
        for row in rows.values()
    ]
    store.keep_findings(pd.DataFrame(accepted))
    return accepted


def read(store: Store) -> tuple[list[Acceptance], list[DataWarning]]:
    """Return what was accepted and still counts, newest first, and what could not be read."""
    table = stored_findings(store)
    rows = table[table["accepted_utc"].notna()].sort_values("accepted_utc", ascending=False)
    acceptances = [*map(_acceptance, decoded(rows))]
    not_taken = not_taken_of(table)
    if lost := len(rows) - len(acceptances):
        what = f"accepted findings that are not the gate's do not count ({lost} of them)"
        not_taken.append(DataWarning("acceptances", what))
    today = f"{date.today()}"
    return [
        acceptance
        for acceptance in acceptances
        if not acceptance.until or acceptance.until >= today
    ], not_taken


def confirmed(store: Store) -> dict[str, list[str]]:
    """Return the start of each session whose change was confirmed and not accepted, by curve.

    Curves are named by `identity_text`.
    """
    table = stored_findings(store)
    accepted_too = table.loc[table["state"] == ACCEPTED, "finding_id"]
    lasting = (table["state"] == CONFIRMED) & ~table["finding_id"].isin(accepted_too)
    by_curve: dict[str, list[str]] = {}
    for row in decoded(table[lasting & table["kind"].isin(CHANGES)]):
        for curve in row["curves"]:
            by_curve.setdefault(identity_text(curve), []).append(row["time_utc"])
    return by_curve


def matching(acceptances: Iterable[Acceptance], row: GateFinding) -> Acceptance | None:
    """Return the acceptance of a finding, if it was accepted."""
    curves = frozenset(map(identity_text, row["curves"]))
    for acceptance in acceptances:
        same_curves = (acceptance.kind, acceptance.metric) == (row["kind"], row["metric"])
        same_curves &= bool(curves) and len(curves & acceptance.curves) >= _SAME_CURVES * len(
            curves
        )
        if (same_curves or acceptance.finding_id == row["finding_id"]) and acceptance.covers(row):
            return acceptance
        if acceptance.is_wider(row):
            return acceptance
    return None


def words_of(row: Mapping[str, Any]) -> str:
    """Return what was accepted as a sentence."""
    until = f" until {row['accepted_until']}" if row["accepted_until"] else ""
    return (
        f"{row['finding_id']} accepted by {row['accepted_by']}{until}: {row['sentence']}"
        f" (reason: {row['reason']})"
    )


def _find(store: Store, finding: str) -> list[dict[Any, Any]]:
    """Return the finding with this ID, or those of this kind in the session judged last."""
    table = stored_findings(store)
    if table.empty:
        raise InputError(store.url, "contains no finding; run `switchpoint gate` first")
    if finding in KINDS:
        newest = table["judged_utc"] == table["judged_utc"].max()
        rows = table[newest & (table["kind"] == finding) & table["fails"].astype(bool)]
        if rows.empty:
            raise InputError(finding, "the session that was judged last has no such failure")
        return [*rows.drop_duplicates("finding_id", keep="last").to_dict("records")]
    rows = table[table["finding_id"].astype(str).str.startswith(finding)]
    if not finding or rows.empty:
        raise InputError(
            finding or "''", f"no finding in the store {store.url} has this ID; `gate` prints them"
        )
    ids = sorted(set(rows["finding_id"]))
    if len(ids) > 1:
        names = ", ".join(ids[:5])
        raise InputError(finding, f"is the start of several IDs ({names}); give more digits")
    return [rows.iloc[-1].to_dict()]


def _acceptance(row: StoredFinding) -> Acceptance:
    return Acceptance(
        row["finding_id"],
        row["kind"],
        _text(row["metric"]),
        row["session"],
        row["time_utc"],
        _text(row["since_utc"]) or row["time_utc"],
        frozenset(map(identity_text, row["curves"])),
        row["effect"],
        _text(row["accepted_by"]),
        _text(row["reason"]),
        str(row["accepted_utc"]),
        _text(row["accepted_until"]),
        row["shared"],
    )


def identity_text(curve: Mapping[str, str]) -> str:
    """Return the identity of a curve as one text."""
    return json.dumps(curve, sort_keys=True)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _is_null(value: Any) -> bool:
    return value is None or value is pd.NaT or (isinstance(value, float) and value != value)


def _day(until: str | date | None) -> str:
    if until is None or until == "":
        return ""
    try:
        day = date.fromisoformat(str(until))
    except ValueError:
        raise InputError("--until", f"'{until}' is not a date; write it as 2026-12-31") from None
    if day < date.today():
        raise InputError("--until", f"{day} is over; give a day from {date.today()} on")
    return str(day)


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # no entry in the system's list of users
        return "unknown"
