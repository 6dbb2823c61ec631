"""The page of the history: what the gate says of the newest session, and what was accepted."""

from __future__ import annotations

from collections.abc import Iterator

from switchpoint.gating.kinds import GateFinding
from switchpoint.gating.verdict import Verdict
from switchpoint.reporting.figures.trend import draw_trend
from switchpoint.reporting.pages.contents import Contents
from switchpoint.reporting.pages.page import Cell, Page, Plot, Row, Section, Table, share, word
from switchpoint.tables.columns import records

_WORDS = (
    "Each plot shows the time of a finding's curves and sizes in each session, divided by that of"
    " all sessions. A dashed line is when the change began, a dotted line when it was accepted."
)


def history(contents: Contents) -> Page | None:
    """Return the page, or None if there is no earlier session."""
    verdicts = contents.verdicts
    if not verdicts:
        return None
    warnings = [
        f"{verdict.site}: {warning}" if len(verdicts) > 1 and verdict.site else str(warning)
        for verdict in verdicts
        for warning in verdict.warnings
    ]
    return Page(
        "history.html",
        "History",
        [_said(verdict, contents) for verdict in verdicts],
        sections=[
            Section("changes", "What changed", _WORDS, _plots(contents), "", _changes(contents)),
            Section("accepted", "Accepted", tables=_accepted(contents)),
        ],
        warnings=[*dict.fromkeys(warnings)],
    )


def _said(verdict: Verdict, contents: Contents) -> str:
    """Write a verdict in one sentence; of several verdicts, with the site."""
    failing = int(verdict.findings["fails"].sum())
    counted = "1 finding" if len(verdict.findings) == 1 else f"{len(verdict.findings):,} findings"
    where = f" at {verdict.site or 'all other sites'}" if len(contents.verdicts) > 1 else ""
    return (
        f"Session {verdict.session}{where} after {verdict.sessions:,} baseline sessions:"
        f" {counted}, {failing:,} failing."
    )


def _findings(contents: Contents) -> Iterator[tuple[Verdict, GateFinding]]:
    """Yield each finding with the verdict that reports it, and each ID once: it is an anchor."""
    known: set[str] = set()
    for verdict in contents.verdicts:
        for row in records(verdict.findings, GateFinding):
            if row["finding_id"] not in known:
                known.add(row["finding_id"])
                yield verdict, row


def _plots(contents: Contents) -> list[Plot]:
    """Draw what changed over the sessions."""
    accepted = contents.accepted
    days = (
        dict(zip(accepted["finding_id"], accepted["accepted_utc"], strict=True))
        if len(accepted)
        else {}
    )
    plots = []
    for _, row in _findings(contents):
        own = contents.trends[contents.trends["finding_id"] == row["finding_id"]]
        if len(own) > 1:
            kind = row["kind"].replace("_", " ")
            title = f"{kind}: {row['sentence']}".replace("`", "")
            name = f"trend-{row['finding_id']}"
            figure = draw_trend(name, title, own, row["since_utc"], days.get(row["finding_id"]))
            plots.append(Plot(name, figure, own))
    return plots


def _changes(contents: Contents) -> list[Table]:
    several = len(contents.verdicts) > 1
    rows = [
        _change(row, [word(verdict.site)] if several else [])
        for verdict, row in _findings(contents)
    ]
    if not rows:
        return []
    headings = ["finding", "verdict", "kind", "effect", "since", "what", "what else changed"]
    return [Table("changes-table", ["site"] * several + headings, rows)]


def _change(row: GateFinding, site: list[Cell]) -> Row:
    state = "fails" if row["fails"] else row["state"]
    facts = [f"{f['fact']}: {f['before']} to {f['now']}" for f in row["what_changed"][:3]]
    return Row(
        [
            *site,
            Cell(row["finding_id"]),
            Cell(state),
            Cell(row["kind"].replace("_", " ")),
            share(row["effect"]),
            Cell(row["since_utc"][:10] if row["since_utc"] else "-"),
            Cell(row["sentence"].replace("`", "")),
            Cell("; ".join(facts) or "-"),
        ],
        f"change-{row['finding_id']}",
    )


def _accepted(contents: Contents) -> list[Table]:
    if contents.accepted.empty:
        return []
    names = ("finding_id", "sentence", "accepted_by", "accepted_utc", "accepted_until", "reason")
    rows = [Row([word(row.get(name)) for name in names]) for row in records(contents.accepted)]
    headings = ["finding", "what", "accepted by", "on", "until", "why"]
    return [Table("accepted-table", headings, rows)]
