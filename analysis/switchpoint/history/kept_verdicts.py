"""The verdicts that the store keeps, so that a report shows what the gate said.

A verdict is a line in `verdicts`, and one in `findings` for each of its findings, all with the time
at which the gate judged. The line of the verdict comes last: without it the others do not count.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pandas as pd
from pydantic import BaseModel, Json, ValidationError

from switchpoint.errors import InputError
from switchpoint.history.accepted import NEEDED
from switchpoint.history.kinds import GATE_COLUMNS
from switchpoint.history.policy import Maintenance
from switchpoint.history.verdict import Verdict, in_order
from switchpoint.store.ledger import now_utc
from switchpoint.store.store import Store
from switchpoint.tables.columns import none_for_nulls

#: Columns of findings that the store keeps as JSON text.
_NESTED = ["shared", "curves", "what_changed"]

#: What each fact that changed has.
_FACT = {"fact", "before", "now"}


class _Line(BaseModel):
    """A line of `verdicts`."""

    session: str
    time_utc: str
    judged_utc: str
    site: str | None = None
    nights: int
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
        "nights": verdict.nights,
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


def kept_verdict(store: Store, session: str) -> Verdict | None:
    """Return what a gate said last of a session, with what was accepted since; None if none did."""
    line = _newest_line(store.verdicts(session=session))
    if line is None:
        return None
    return Verdict(
        line.session,
        line.time_utc,
        line.nights,
        pd.DataFrame(),
        in_order(kept_findings(store, session, line.judged_utc)),
        line.warnings,
        maintenance=line.maintenance,
        site=line.site,
    )


def _newest_line(table: pd.DataFrame) -> _Line | None:
    """Return the newest line that the gate can have written."""
    if "judged_utc" not in table:
        return None
    for row in reversed(none_for_nulls(table.sort_values("judged_utc")).to_dict("records")):
        try:
            return _Line.model_validate(row)
        except ValidationError:  # noqa: PERF203  any program may add lines
            continue
    return None


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
    lists = [nested["curves"], nested["what_changed"]]
    entries = all(isinstance(own, list) and all(isinstance(one, dict) for one in own)
                  for own in lists)  # fmt: skip
    return entries and all({*one} >= _FACT for one in nested["what_changed"])
