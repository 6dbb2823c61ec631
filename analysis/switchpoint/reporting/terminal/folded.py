"""Prints findings that are alike as one line of a table."""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd
from rich.console import Console
from rich.table import Table

from switchpoint.reporting.digest import PLACE, Line
from switchpoint.reporting.terminal.tables import most_width, safe_text, show_table, table_width
from switchpoint.reporting.terminal.words import change_range, kind_text, listed
from switchpoint.tables.columns import identity_columns
from switchpoint.tables.units import range_text, significant

#: Columns whose values are counted if a line summarises more than a few.
_FOLDED = {"kernel": "benchmarks", "placement": "placements", "mode": "modes"}
_FEW_WORDS = 4


def show_lines(console: Console, lines: list[Line], curves: pd.DataFrame) -> None:
    """Print summarised findings as a table, or as two lines each if the table is too wide."""
    if not lines:
        return
    named = _naming([line.place for line in lines])
    varying = _varying(curves)
    rows = [_row(line, named, varying) for line in lines]
    table = _table(named, rows)
    if table_width(table) <= most_width(console):
        show_table(console, table)
        return
    for row in rows:
        words = ", ".join(word for word in [*row.place, row.where] if word not in ("", "-"))
        costs = f", {row.cost}" if row.cost != "-" else ""
        told = f"{row.size}, {row.time}{costs}, confidence {row.confidence}, {row.curves} curves"
        console.print(safe_text(words or "all", style="bold"))
        console.print(safe_text(f"  {row.kind} {told}"))


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
        where=_where(line, varying),
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


def _naming(places: list[dict[str, str | None]]) -> list[str]:
    """Return columns that name places: site, MPI, and others that distinguish places."""
    named: list[str] = []
    for name in PLACE:
        values = [place[name] for place in places]
        others = [tuple(place[other] for other in named) for place in places]
        tells = len({*zip(others, values, strict=True)}) > len({*others})
        if any(values) and (name in {"site", "mpi"} or tells):
            named.append(name)
    if "environ" not in named and any(p["environ"] and not p["mpi"] for p in places):
        named.append("environ")
    return named


def _heading(column: str) -> str:
    return {"mpi": "MPI"}.get(column, column)


def _varying(curves: pd.DataFrame) -> list[str]:
    """Return columns that a line names: `_FOLDED`, and others that distinguish these curves."""
    columns = [name for name in identity_columns(curves) if name not in {*PLACE, "run_id"}]
    return [name for name in columns if name in _FOLDED or len(set(curves[name])) > 1]


def _where(line: Line, varying: list[str]) -> str:
    """Name the benchmarks, placements and modes of a line's curves, or their number."""
    words = []
    for name in varying:
        values = list(dict.fromkeys(curve.get(name) for curve in line.curves.values()))
        known = [value for value in values if isinstance(value, str)]
        if name in _FOLDED and known:
            few = len(known) <= _FEW_WORDS
            words.append(listed(known) if few else f"{len(known)} {_FOLDED[name]}")
        elif len(values) == 1 and known:
            words.append(f"{name}={known[0]}")
    return ", ".join(words)
