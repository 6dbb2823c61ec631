"""The page of the history: what the gate says of the newest session, and what was accepted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from switchpoint.reporting.figures.trend import draw_trend
from switchpoint.reporting.pages.contents import Contents
from switchpoint.reporting.pages.page import Cell, Page, Plot, Row, Section, Table, share, word
from switchpoint.tables.columns import none_for_nulls

_WORDS = (
    "Each plot shows the time of a finding's curves and sizes in each night, divided by that of all"
    " nights. A dashed line is when the change began, a dotted line when it was accepted."
)


def history(contents: Contents) -> Page | None:
    """Return the page, or None if there is no earlier session."""
    verdict = contents.verdict
    if verdict is None or not verdict.nights:
        return None
    failing = int(verdict.findings["fails"].sum())
    counted = "1 finding" if len(verdict.findings) == 1 else f"{len(verdict.findings):,} findings"
    return Page(
        "history.html",
        "History",
        [
            f"Session {verdict.session} after {verdict.nights:,} earlier nights:"
            f" {counted}, {failing:,} failing."
        ],
        sections=[
            Section("changes", "What changed", _WORDS, _plots(contents), "", _changes(contents)),
            Section("accepted", "Accepted", tables=_accepted(contents)),
        ],
        warnings=verdict.warnings,
    )


def _plots(contents: Contents) -> list[Plot]:
    """Draw what changed over the nights."""
    assert contents.verdict is not None
    accepted = contents.accepted
    days = (
        dict(zip(accepted["finding_id"], accepted["accepted_utc"], strict=True))
        if len(accepted)
        else {}
    )
    plots = []
    for row in none_for_nulls(contents.verdict.findings).to_dict("records"):
        own = contents.trends[contents.trends["finding_id"] == row["finding_id"]]
        if len(own) > 1:
            kind = str(row["kind"]).replace("_", " ")
            title = f"{kind}: {row['sentence']}".replace("`", "")
            name = f"trend-{row['finding_id']}"
            figure = draw_trend(name, title, own, row["since_utc"], days.get(row["finding_id"]))
            plots.append(Plot(name, figure, own))
    return plots


def _changes(contents: Contents) -> list[Table]:
    assert contents.verdict is not None
    findings = contents.verdict.findings
    if findings.empty:
        return []
    rows = [_change(row) for row in none_for_nulls(findings).to_dict("records")]
    headings = ["finding", "verdict", "kind", "effect", "since", "what", "what else changed"]
    return [Table("changes-table", headings, rows)]


def _change(row: Mapping[Any, Any]) -> Row:
    state = "fails" if row["fails"] else row["state"]
    facts = [f"{f['fact']}: {f['before']} to {f['now']}" for f in row["what_changed"][:3]]
    return Row(
        [
            Cell(row["finding_id"]),
            Cell(state),
            Cell(str(row["kind"]).replace("_", " ")),
            share(row["effect"]),
            Cell(str(row["since_utc"])[:10] if row["since_utc"] else "-"),
            Cell(row["sentence"].replace("`", "")),
            Cell("; ".join(facts) or "-"),
        ],
        f"change-{row['finding_id']}",
    )


def _accepted(contents: Contents) -> list[Table]:
    if contents.accepted.empty:
        return []
    names = ("finding_id", "sentence", "accepted_by", "accepted_utc", "accepted_until", "reason")
    rows = [
        Row([word(row.get(name)) for name in names])
        for row in none_for_nulls(contents.accepted).to_dict("records")
    ]
    headings = ["finding", "what", "accepted by", "on", "until", "why"]
    return [Table("accepted-table", headings, rows)]
