"""Prints every finding of every curve, with what is suspected."""

from __future__ import annotations

import pandas as pd
from rich.console import Console
from rich.table import Table
from rich.text import Text

from switchpoint.explanation.origins import words_of
from switchpoint.reporting.terminal.tables import (
    HEADING,
    cell_text,
    safe_text,
    show_line,
    show_table,
)
from switchpoint.tables.columns import identity_columns, records, values_of
from switchpoint.tables.findings import KINDS, SHOWN, Column, Finding, place
from switchpoint.tables.naming import other_curve
from switchpoint.tables.units import range_text


def print_each(console: Console, findings: pd.DataFrame) -> None:
    """Print every finding of every curve, with a table for each MPI and benchmark."""
    heading = [name for name in HEADING if name in findings]
    groups = findings.groupby(heading, dropna=False, sort=False) if heading else [((), findings)]
    for values, group in groups:
        show_line(console, ", ".join(v for v in values if isinstance(v, str)), style="bold")
        show_table(console, _table(group))
        _print_suspects(console, group)
        console.print()


def _table(findings: pd.DataFrame) -> Table:
    curve_columns = [
        name
        for name in identity_columns(findings)
        if name not in {*HEADING, "run_id"} and findings[name].notna().any()
    ]
    if _curves_repeat(findings, curve_columns):
        curve_columns.append("run_id")
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for name in curve_columns:
        table.add_column(name.removesuffix("_id"), no_wrap=True)
    for column in SHOWN:
        left = column.json_type == "string"
        table.add_column(column.heading, justify="left" if left else "right", no_wrap=True)
    for row in records(findings, Finding):
        table.add_row(
            *map(safe_text, map(cell_text, curve_columns, values_of(row, curve_columns))),
            *(_shown(column, row) for column in SHOWN),
        )
    return table


def _shown(column: Column, row: Finding) -> Text:
    style = ("red" if row["magnitude"] > 0 else "green") if column.name == "magnitude" else ""
    return safe_text((column.short or column.text)(row), style=style)


def _print_suspects(console: Console, findings: pd.DataFrame) -> None:
    """Print each suspect once, with the placements and steps that it would explain.

    Then print guesses for steps without a suspect, and what an inverted curve is slower than.
    """
    explained: dict[str, dict[str, None]] = {}
    for row in records(findings, Finding):
        for suspect in row["suspects"]:
            step = f"step at {range_text(row['last_size_before'], row['size_bytes'])}"
            if isinstance(row.get("placement"), str):
                step = f"{row['placement']}, {step}"
            explained.setdefault(suspect["reason"], {})[step] = None
    for reason, steps in explained.items():
        show_line(console, f"{'; '.join(steps)}: suspect {reason}")
    for row in records(findings, Finding):
        where = f"{KINDS[row['kind']].words} at {place(row)}"
        if isinstance(row.get("placement"), str):
            where = f"{row['placement']}, {where}"
        if row["origin"] and not row["suspects"]:
            show_line(console, f"{where}: perhaps {words_of(row['origin'])}")
        if says := row["evidence"].get("says"):
            show_line(console, f"{where}: {says}")
        if other := other_curve(row["evidence"]):
            show_line(console, f"{where}: slower than {other}")


def _curves_repeat(findings: pd.DataFrame, columns: list[str]) -> bool:
    """Return whether several runs have a curve of the same name."""
    named = findings[[*columns, "run_id"]].drop_duplicates()
    return bool(named.duplicated(columns).any()) if columns else len(named) > 1
