"""Prints the verdict of the gate: findings that fail, then the others, one sentence each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from switchpoint.gating.kinds import ACCEPTED, ChangedFact, GateFinding
from switchpoint.printable import printable
from switchpoint.reporting.terminal.tables import SafeConsole, show_line
from switchpoint.tables.columns import records
from switchpoint.tables.units import counted

if TYPE_CHECKING:
    from switchpoint.gating.verdict import Verdict

#: The most facts printed below a finding. --json has all of them.
_FACTS = 3


def print_verdict(verdict: Verdict) -> None:
    """Print findings with what else changed, and a last line with the verdict."""
    console = SafeConsole()
    for row in records(verdict.findings, GateFinding):
        show_line(console, _heading(row))
        for line in details(row):
            show_line(console, f"      {line}", style="dim")
    show_line(console, last_line(verdict))


def print_power(verdict: Verdict) -> None:
    """Print how small a change is found, a line for each metric and for one curve or a placement.

    Each change is by itself; where several curves change together, smaller ones are found.
    """
    console = SafeConsole()
    if not verdict.power:
        show_line(console, "no curve was compared, so nobody knows how small a change is found")
    rows: dict[tuple[str, str], list[str]] = {}
    for one in verdict.power:
        told = f"{100 * one['least']:.1f} % after {counted(one['sessions'], 'session')}"
        rows.setdefault((one["metric"], one["of"]), []).append(told)
    for (metric, of), found in rows.items():
        whose = "one curve" if of == "curve" else "all curves of a placement"
        show_line(console, f"found in {metric} of {whose}: {', '.join(found)}")


def last_line(verdict: Verdict) -> str:
    """Return the verdict in one sentence."""
    what = (
        f"session {verdict.session}: {counted(len(verdict.curves), 'curve')} compared with"
        f" {counted(verdict.sessions, 'baseline session')}"
    )
    failing = int(verdict.findings["fails"].sum())
    others = len(verdict.findings) - failing
    more = f", {others} more" if others else ""
    if not failing:
        return f"{what}: passes{more and ', ' + counted(others, 'finding')}"
    return f"{what}: fails with {counted(failing, 'finding')}{more}"


def details(row: GateFinding) -> list[str]:
    """Return what else is known of a finding: its date, the reason, and what changed."""
    lines = []
    if row["state"] == ACCEPTED:
        lines.append(str(row["reason"]))
    if row["since_utc"] is not None:
        lines.append(f"since {_day_range(row)}")
    return lines + [
        f"changed: {fact['fact']}: {_short(fact['before'])} -> {_short(fact['now'])}{_shares(fact)}"
        for fact in row["what_changed"][:_FACTS]
    ]


def _heading(row: GateFinding) -> Text:
    style = "bold red" if row["fails"] else "bold"
    word = "FAIL" if row["fails"] else "    "
    kind = row["kind"].replace("_", " ")
    return Text.assemble(
        (word, style), f" {row['finding_id']} ", (kind, style), ": ", printable(row["sentence"])
    )


def _day_range(row: GateFinding) -> str:
    low, high = str(row["since_low_utc"])[:10], str(row["since_high_utc"])[:10]
    day = str(row["since_utc"])[:10]
    return day if low == high else f"{day} [{low}, {high}]"


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."


def _shares(fact: ChangedFact) -> str:
    if "of_changed" not in fact:
        return ""
    others = fact["of_unchanged"]
    if others == 0:
        return " (only in the changed curves)"
    return f" (also in {100 * others:.0f} % of the other runs)"
