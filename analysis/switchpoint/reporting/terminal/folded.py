"""Prints findings of the same kind and place as one line of a table."""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd
from rich.console import Console
from rich.table import Table

from switchpoint.reporting.digest import Line
from switchpoint.reporting.places_of_lines import curves_text, naming_columns, varying_columns
from switchpoint.reporting.terminal.tables import (
    most_width,
    safe_text,
    show_line,
    show_table,
    table_width,
)
from switchpoint.reporting.terminal.words import change_range, kind_text
from switchpoint.tables.units import range_text, significant


def show_lines(console: Console, lines: list[Line], curves: pd.DataFrame) -> None:
    """Print summarised findings as a table, or as two lines each if the table is too wide."""
    if not lines:
        return
    named = naming_columns([line.place for line in lines])
    varying = varying_columns(curves)
    rows = [_row(line, named, varying) for line in lines]
    table = _table(named, rows)
    if table_width(table) <= most_width(console):
        show_table(console, table)
        return
    for row in rows:
        words = ", ".join(word for word in [*row.place, row.where] if word not in ("", "-"))
        costs = f", {row.cost}" if row.cost != "-" else ""
        told = f"{row.size}, {row.time}{costs}, confidence {row.confidence}, {row.curves} curves"
        show_line(console, words or "all", style="bold")
        show_line(console, f"  {row.kind} {told}")


class _Row(NamedTuple):
    """The text of one line."""

    place: list[str]
    kind: str
    size: str
    time: str
    cost: str
    confidence: str
    curves: str
    where: str


def _row(line: Line, named: list[str], varying: list[str]) -> _Row:
    return _Row(
        place=[line.place[name] or "-" for name in named],
        kind=kind_text(line.kind),
        size=range_text(line.last_size_before, line.size_bytes),
        time=change_range(line.magnitudes),
        cost=f"{significant(line.cost_us)} us" if line.costs_us else "-",
        confidence=f"{100 * line.confidence:.0f} %",
        curves=f"{len(line.curves):,} of {line.of_curves:,}",
        where=curves_text(line, varying),
    )


def _table(named: list[str], rows: list[_Row]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for name in named:
        table.add_column(_heading(name), no_wrap=True)
    for heading in ("finding", "between sizes", "time", "costs", "confidence", "curves"):
        right = heading not in {"finding", "curves"}
        table.add_column(heading, justify="right" if right else "left", no_wrap=True)
    table.add_column("in", no_wrap=True)
    for row in rows:
        style = "green" if row.time.startswith("-") and " to " not in row.time else "red"
        table.add_row(
            *map(safe_text, row.place), row.kind, row.size, safe_text(row.time, style=style),
            row.cost, row.confidence, row.curves, safe_text(row.where),
        )  # fmt: skip
    return table


def _heading(column: str) -> str:
    return {"mpi": "MPI"}.get(column, column)
