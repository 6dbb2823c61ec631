"""Prints what the studies claim, with verdict and figures."""

from __future__ import annotations

import pandas as pd
from rich.table import Table

from switchpoint.reporting.terminal.tables import SafeConsole, safe_text, show_line, show_table
from switchpoint.studies.claims import ClaimRow, Figure
from switchpoint.tables.columns import records
from switchpoint.tables.units import significant

_VERDICT_STYLES = {"holds": "green", "does not hold": "red", "not testable here": "yellow"}

#: The number of printed figures of a claim and of their runs. --json has all of them.
_FIGURES = 4
_RUNS = 8


def print_claims(claims: pd.DataFrame) -> None:
    """Print each place's claims with verdict and figures, or with what is missing."""
    console = SafeConsole()
    names = ["site", "partition", "mpi", "environ"]
    for place, group in claims.groupby(names, dropna=False, sort=False):
        words = [word for word in place if isinstance(word, str)]
        show_line(console, ", ".join(words) or "not measured anywhere", style="bold")
        table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
        table.add_column(no_wrap=True)
        table.add_column(no_wrap=True)
        table.add_column()
        for claim in records(group, ClaimRow):
            verdict = safe_text(claim["verdict"], style=_VERDICT_STYLES[claim["verdict"]])
            table.add_row(f"{claim['study']}.{claim['number']}", verdict, safe_text(claim["claim"]))
            for line in _figures(claim["evidence"]):
                table.add_row("", "", safe_text(line, style="dim"))
            if claim["reason"] is not None:
                table.add_row("", "", safe_text(f"{claim['reason']}; fix: {claim['fix']}"))
        show_table(console, table)
        console.print()
    counts = claims["verdict"].value_counts()
    show_line(
        console, ", ".join(f"{counts.get(verdict, 0)} {verdict}" for verdict in _VERDICT_STYLES)
    )


def _figures(evidence: list[Figure]) -> list[str]:
    """Return lines for the figures of a claim, contradicting ones first, and for their runs."""
    ordered = sorted(evidence, key=lambda figure: [False, None, True].index(figure["holds"]))
    lines = []
    for figure in ordered[:_FIGURES]:
        numbers = [significant(figure[name]) for name in ("value", "low", "high")]
        unit = f" {figure['unit']}" if figure["unit"] else ""
        interval = f"{numbers[0]} [{numbers[1]}, {numbers[2]}]{unit}"
        lines.append(f"{figure['what']}: {interval}, wanted {figure['wanted']}")
    if len(ordered) > _FIGURES:
        lines.append(f"and {len(ordered) - _FIGURES} more figures; --json prints all of them")
    runs = sorted({run[:8] for figure in evidence for run in figure["runs"]})
    if runs:
        more = f" and {len(runs) - _RUNS} more" if len(runs) > _RUNS else ""
        lines.append(f"runs {', '.join(runs[:_RUNS])}{more}")
    return lines
