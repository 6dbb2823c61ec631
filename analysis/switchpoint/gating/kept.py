"""What the store keeps of a gate: its verdict for reports, parameters, and boundaries to use again.

A verdict is a line in `verdicts`, and one in `findings` for each of its findings, all with the time
at which the gate judged. The line of the verdict comes last: without it the others do not count.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pandas as pd
from pydantic import BaseModel, Field, Json, ValidationError

from switchpoint.errors import InputError
from switchpoint.gating.accepted import NEEDED, Acceptance, identity_text
from switchpoint.gating.by_curve import ByCurve
from switchpoint.gating.circumstances import nodes_of
from switchpoint.gating.current import Current
from switchpoint.gating.kinds import GATE_COLUMNS
from switchpoint.gating.points import Points, texts_of
from switchpoint.gating.policy import Maintenance
from switchpoint.gating.sessions import Sessions
from switchpoint.gating.verdict import Verdict, in_order
from switchpoint.limits import COUNT
from switchpoint.store.ledger import now_utc
from switchpoint.store.store import Store
from switchpoint.tables.columns import none_for_nulls

#: Columns of findings that the store keeps as JSON text.
_NESTED = ["shared", "curves", "what_changed"]

#: What each fact that changed has.
_FACT = {"fact", "before", "now"}

#: Boundaries that were found in a baseline of some sessions are used in at most so many times
#: longer ones.
_MOST_GROWTH = 1.5


class _Line(BaseModel):
    """A line of `verdicts`."""

    session: str
    time_utc: str
    judged_utc: str
    site: str | None = None
    sessions: int = Field(alias="nights")
    warnings: Json[list[str]]
    maintenance: Json[tuple[Maintenance, ...]]


def kept(store: Store, verdict: Verdict) -> None:
    """Store a verdict with its findings, and the parameters of its launches.

    If only the findings can be written, this costs a warning: later gates need nothing else.

    Raises
    ------
    InputError
        If the findings cannot be written.
    """
    judged_utc = now_utc()
    findings = verdict.findings.assign(judged_utc=judged_utc)
    nested = {name: [json.dumps(value) for value in findings[name]] for name in _NESTED}
    store.keep_findings(findings.assign(**nested))
    windows = [one.model_dump(mode="json", by_alias=True) for one in verdict.maintenance]
    line = {
        "session": verdict.session,
        "site": verdict.site,
        "time_utc": verdict.start_utc,
        "judged_utc": judged_utc,
        "nights": verdict.sessions,
        "fails": verdict.fails,
        "warnings": json.dumps(verdict.warnings),
        "maintenance": json.dumps(windows),
    }
    try:
        store.keep_verdicts(pd.DataFrame([line]))
        store.keep_parameters(verdict.parameters)
    except InputError as error:
        verdict.warnings.append(
            f"the verdict or the parameters of this session were not kept: {error}"
        )


def kept_verdicts(store: Store, session: str, sites: Collection[str]) -> list[Verdict]:
    """Return what gates said last of a session, with what was accepted since.

    A gate judges one site, or all sites together. The newest verdict of each site counts; what was
    said of all sites before counts for those that were not judged alone since.

    Parameters
    ----------
    store, session
        Where they are, and what was judged.
    sites
        All sites of the session.

    Returns
    -------
    list of Verdict
        Newest first; empty if no gate judged the session.
    """
    found: list[Verdict] = []
    alone: set[str] = set()
    for line in _newest_first(store.verdicts(session=session)):
        if line.site in alone:
            continue
        rows = kept_findings(store, session, line.judged_utc)
        if line.site is None:
            if not alone or not alone >= {*sites}:
                rows = [row for row in rows if not _is_of(row, alone)]
                found.append(_verdict(line, rows))
            break
        found.append(_verdict(line, rows))
        alone.add(line.site)
    return found


def _verdict(line: _Line, rows: list[dict[str, Any]]) -> Verdict:
    return Verdict(
        line.session,
        line.time_utc,
        line.sessions,
        pd.DataFrame(),
        in_order(rows),
        line.warnings,
        maintenance=line.maintenance,
        site=line.site,
    )


def _is_of(row: Mapping[str, Any], sites: Collection[str]) -> bool:
    """Whether a finding is of some sites only."""
    told = row["curves"] or [row["shared"]]
    return all(str(one.get("site")) in sites for one in told)


def _newest_first(table: pd.DataFrame) -> Iterator[_Line]:
    """Yield the lines that the gate can have written."""
    if "judged_utc" not in table:
        return
    for row in reversed(none_for_nulls(table.sort_values("judged_utc")).to_dict("records")):
        with suppress(ValidationError):  # any program may add lines
            yield _Line.model_validate(row)


def kept_findings(store: Store, session: str, judged_utc: str | None) -> list[dict[str, Any]]:
    """Return the findings of one verdict as rows of `GATE_COLUMNS`, each as it was stored last.

    What the gate cannot have written is left out.

    Parameters
    ----------
    store, session
        Where they are, and what was judged.
    judged_utc
        When; None for findings of earlier versions, which did not tell it.
    """
    table = store.findings(session=session)
    if table.empty or not {*NEEDED, "time_utc", "state", "fails"} <= {*table}:
        return []
    judged = table.get("judged_utc", pd.Series(index=table.index, dtype=object))
    table = table[judged.isna() if judged_utc is None else judged == judged_utc]
    table = table.dropna(subset=[*NEEDED, "state", "fails"]).reindex(columns=GATE_COLUMNS)
    newest = table.drop_duplicates("finding_id", keep="last")
    effects = newest[["effect", "low", "high"]].apply(pd.to_numeric, errors="coerce").astype(float)
    rows = none_for_nulls(newest).to_dict("records")
    found = []
    for row, effect in zip(rows, effects.to_dict("records"), strict=True):
        try:
            nested = {name: json.loads(row[name]) for name in _NESTED}
        except (TypeError, ValueError):
            continue
        if _is_sound(nested):
            found.append({**row, **nested, **effect, "fails": bool(row["fails"])})
    return found


def _is_sound(nested: Mapping[str, Any]) -> bool:
    """Whether the nested columns of a finding have the types that the gate gives them."""
    if not isinstance(nested["shared"], dict):
        return False
    lists = [nested["curves"], nested["what_changed"]]
    entries = all(isinstance(own, list) and all(isinstance(one, dict) for one in own)
                  for own in lists)  # fmt: skip
    return entries and all({*one} >= _FACT for one in nested["what_changed"])


@dataclass(frozen=True)
class Boundaries:
    """The segments of a curve as they were found.

    Attributes
    ----------
    first_sizes : list of int
        The first size of each segment, in bytes.
    searched_utc : str
        The start of the session for which they were searched.
    sessions : int
        The number of sessions before it.
    """

    first_sizes: list[int]
    searched_utc: str
    sessions: int


def known_boundaries(
    store: Store,
    points: Points,
    sessions: Sessions,
    acceptances: Iterable[Acceptance],
    for_sessions: int,
) -> tuple[dict[int, Boundaries], list[str]]:
    """Return the boundaries of curves that an earlier gate stored and that still count.

    Return also what could not be read, one sentence each. Boundaries that are lost are searched.

    Parameters
    ----------
    store
        Its parameters of the newest baseline session are read.
    points, sessions
        Of all sessions.
    acceptances
        What was accepted. A change that was accepted later may have moved boundaries.
    for_sessions
        After so many sessions, boundaries are searched again.
    """
    if not sessions.current:
        return {}, []
    columns = ["curve", "first_size_bytes", "searched_utc", "searched_nights"]
    table = store.parameters(columns, since=sessions.starts_utc[-2], until=sessions.starts_utc[-1])
    not_taken: list[str] = table.attrs["not_taken"]
    if table.empty or not {*columns} <= {*table}:
        return {}, not_taken
    table = _sound(table)
    oldest = sessions.starts_utc[max(sessions.current - for_sessions, 0)]
    accepted: dict[str, str] = {}
    for one in acceptances:
        for curve in one.curves if one.is_new_normal else ():
            accepted[curve] = max(accepted.get(curve, ""), one.session_utc)
    number = {identity_text(text): curve for curve, text in enumerate(texts_of(points.curves))}
    known: dict[int, Boundaries] = {}
    names = ["curve", "searched_utc", "searched_nights"]
    for _, part in table.groupby(names, observed=True):
        curve, searched, count = (part[name].iloc[0] for name in names)
        still = searched > oldest and sessions.current <= count * _MOST_GROWTH
        if still and curve in number and accepted.get(curve, "") < searched:
            sizes = sorted({*part["first_size_bytes"].astype(int).tolist()})
            known[number[curve]] = Boundaries(sizes, searched, int(count))
    return known, not_taken


def _sound(table: pd.DataFrame) -> pd.DataFrame:
    """Return different rows of parameters, without those that the gate cannot have written."""
    numbers = {
        name: pd.to_numeric(table[name], errors="coerce")
        for name in ("first_size_bytes", "searched_nights")
    }
    known = table.assign(**numbers).dropna().drop_duplicates()
    right = known["first_size_bytes"].between(0, COUNT - 1) & (known["searched_nights"] >= 0)
    return known[right].astype({"curve": "str", "searched_utc": "str"})


def parameters_of_launches(
    current: Current, curves: ByCurve, known: Mapping[int, Boundaries]
) -> pd.DataFrame:
    """Return the parameters of the current session's launches as the store keeps them.

    Parameters
    ----------
    current
        The current session.
    curves
        As from `by_curve`.
    known
        Boundaries that were not searched in the current session.
    """
    now = Boundaries([], current.sessions.starts_utc[-1], current.sessions.current)
    whose = [known.get(curve, now) for curve in range(len(current.curves))]
    identity = current.curves.assign(
        curve=[identity_text(text) for text in texts_of(current.curves)],
        searched_utc=[one.searched_utc for one in whose],
        searched_sessions=[one.sessions for one in whose],
    ).astype({"curve": "category", "searched_utc": "category"})
    runs = (
        current.sessions.runs_of(current.sessions.current)
        .drop_duplicates("run_id")
        .set_index("run_id")
    )
    facts = [current.facts.get(run, {}) for run in runs.index]
    proved = {
        "proved_nodes": [", ".join(sorted(nodes_of(one))) or None for one in facts],
        "proved_path": [one.get("path") for one in facts],
    }
    told = runs[["start_utc", "session"]].join(pd.DataFrame(proved, runs.index, dtype=object))
    own = curves.parameters.current
    parts = [
        identity.iloc[own["curve"]].reset_index(drop=True),
        told.reindex(own["run_id"]).reset_index(),
        own.drop(columns=["curve", "run_id"]),
    ]
    table = pd.concat(parts, axis="columns")
    # A label of a run may have the name of one of these columns.
    return table.loc[:, ~table.columns.duplicated(keep="last")]
