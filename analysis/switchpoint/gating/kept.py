"""What the store keeps of a gate: its verdict for reports, and the parameters of launches.

A verdict is a line in `verdicts`, and one in `findings` for each of its findings, all with the time
at which the gate judged. The line of the verdict comes last: without it the others do not count.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from contextlib import suppress

import pandas as pd
from pydantic import BaseModel, Field, Json, ValidationError

from switchpoint.data_warnings import DataWarning, entries_of_warnings, warning_of_entry
from switchpoint.errors import InputError
from switchpoint.gating.accepted import identity_text
from switchpoint.gating.by_curve import ByCurve
from switchpoint.gating.circumstances import nodes_of
from switchpoint.gating.current import Current
from switchpoint.gating.kinds import GateFinding
from switchpoint.gating.points import texts_of
from switchpoint.gating.policy import Maintenance
from switchpoint.gating.stored_findings import NESTED, decoded, stored_findings
from switchpoint.gating.verdict import Verdict, in_order
from switchpoint.store.ledger import now_utc
from switchpoint.store.store import Store
from switchpoint.tables.columns import records


class _Line(BaseModel):
    """A line of `verdicts`."""

    session: str
    time_utc: str
    judged_utc: str
    site: str | None = None
    sessions: int = Field(alias="nights")
    warnings: Json[list[str | dict[str, str]]]
    maintenance: Json[tuple[Maintenance, ...]]


def keep_verdict(store: Store, verdict: Verdict) -> None:
    """Store a verdict with its findings, and the parameters of its launches.

    If only the findings can be written, this costs a warning: later gates need nothing else.

    Raises
    ------
    InputError
        If the findings cannot be written.
    """
    judged_utc = now_utc()
    findings = verdict.findings.assign(judged_utc=judged_utc)
    nested = {name: [json.dumps(value) for value in findings[name]] for name in NESTED}
    store.keep_findings(findings.assign(**nested))
    windows = [window.model_dump(mode="json", by_alias=True) for window in verdict.maintenance]
    line = {
        "session": verdict.session,
        "site": verdict.site,
        "time_utc": verdict.start_utc,
        "judged_utc": judged_utc,
        "nights": verdict.sessions,
        "fails": verdict.fails,
        "warnings": json.dumps(entries_of_warnings(verdict.warnings)),
        "maintenance": json.dumps(windows),
    }
    try:
        store.keep_verdicts(pd.DataFrame([line]))
        store.keep_parameters(verdict.parameters)
    except InputError as error:
        what = f"the verdict or the parameters of this session were not kept: {error}"
        verdict.warnings.append(DataWarning("not_kept", what))


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
    verdicts: list[Verdict] = []
    alone: set[str] = set()
    for line in _newest_first(store.verdicts(session=session)):
        if line.site in alone:
            continue
        rows = kept_findings(store, session, line.judged_utc)
        if line.site is None:
            if not alone or not alone >= {*sites}:
                rows = [row for row in rows if not _is_of(row, alone)]
                verdicts.append(_verdict(line, rows))
            break
        verdicts.append(_verdict(line, rows))
        alone.add(line.site)
    return verdicts


def _verdict(line: _Line, rows: list[GateFinding]) -> Verdict:
    return Verdict(
        line.session,
        line.time_utc,
        line.sessions,
        pd.DataFrame(),
        in_order(rows),
        [*map(warning_of_entry, line.warnings)],
        maintenance=line.maintenance,
        site=line.site,
    )


def _is_of(row: GateFinding, sites: Collection[str]) -> bool:
    """Whether a finding is of some sites only."""
    identities = row["curves"] or [row["shared"]]
    return all(str(identity.get("site")) in sites for identity in identities)


def _newest_first(table: pd.DataFrame) -> Iterator[_Line]:
    """Yield the lines that the gate can have written."""
    if "judged_utc" not in table:
        return
    for row in reversed(records(table.sort_values("judged_utc"))):
        with suppress(ValidationError):  # any program may add lines
            yield _Line.model_validate(row)


def kept_findings(store: Store, session: str, judged_utc: str | None) -> list[GateFinding]:
    """Return the findings of one verdict as rows of `GATE_COLUMNS`, each as it was stored last.

    What the gate cannot have written is left out.

    Parameters
    ----------
    store, session
        Where they are, and what was judged.
    judged_utc
        When; None for findings of earlier versions, which did not tell it.
    """
    table = stored_findings(store, session=session)
    judged = table["judged_utc"]
    table = table[judged.isna() if judged_utc is None else judged == judged_utc]
    return [*decoded(table.drop_duplicates("finding_id", keep="last"))]


def parameters_of_launches(current: Current, curves: ByCurve) -> pd.DataFrame:
    """Return the parameters of the current session's launches as the store keeps them."""
    names = pd.Categorical([identity_text(text) for text in texts_of(current.curves)])
    identity = current.curves.assign(curve=names)
    runs = current.current_runs.drop_duplicates("run_id").set_index("run_id")
    facts = [current.facts.get(run, {}) for run in runs.index]
    proved = {
        "proved_nodes": [", ".join(sorted(nodes_of(known))) or None for known in facts],
        "proved_path": [known.get("path") for known in facts],
    }
    of_runs = runs[["start_utc", "session"]].join(pd.DataFrame(proved, runs.index, dtype=object))
    launches = curves.parameters.current
    parts = [
        identity.iloc[launches["curve"]].reset_index(drop=True),
        of_runs.reindex(launches["run_id"]).reset_index(),
        launches.drop(columns=["curve", "run_id"]),
    ]
    table = pd.concat(parts, axis="columns")
    # A label of a run may have the name of one of these columns.
    return table.loc[:, ~table.columns.duplicated(keep="last")]
