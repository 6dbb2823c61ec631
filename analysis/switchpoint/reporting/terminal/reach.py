"""Prints what each site reaches, and how much of what its link and sockets allow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
from rich.console import Console
from rich.table import Table

from switchpoint.comparison.reach import place_columns
from switchpoint.reporting.ladders import boundaries_text
from switchpoint.reporting.terminal.tables import SafeConsole, safe_text, show_line, show_table
from switchpoint.tables.columns import records
from switchpoint.tables.units import significant

#: Columns of numbers: heading and the column of the table.
_NUMBERS = {
    "latency / us": "latency_us",
    "n1/2 / B": "half_size_bytes",
    "peak / (MB/s)": "peak_MBps",
    "messages / s": "messages_per_s",
    "link / (MB/s)": "link_MBps",
}

_SHARES = {"share of link": "share_of_link", "over sockets": "over_sockets"}

_MEANINGS = (
    "Latency: half a round trip of the smallest size. n1/2: the size with half of the largest"
    " bandwidth of round trips.",
    "Peak and messages: a stream in one direction, or else round trips (*). Brackets: 95 % interval"
    " over launches.",
)


def print_reach(table: pd.DataFrame) -> None:
    """Print one table with a row for each site, MPI, placement, benchmark and other label."""
    console = SafeConsole()
    words = _words(table)
    alike = [
        f"{_heading(name)} {value}"
        for name in place_columns(table)
        if name not in words and isinstance(value := table[name].iloc[0], str) and name != "side"
    ]
    if alike:
        show_line(console, f"All rows: {', '.join(alike)}.")
    _print_rows(console, table, words)
    console.print()
    for line in _MEANINGS:
        show_line(console, line)


def _words(table: pd.DataFrame) -> list[str]:
    """Return the columns to print: site, MPI and benchmark, and each that distinguishes rows."""
    differ = [name for name in place_columns(table) if len(set(table[name].fillna(""))) > 1]
    always = {"site", "mpi", "benchmark"} | ({"environ"} if table["mpi"].isna().any() else set())
    known = table.notna().any()
    return [
        name for name in place_columns(table) if name in differ or (name in always and known[name])
    ]


def _heading(name: str) -> str:
    return "MPI" if name == "mpi" else name


def _print_rows(console: Console, rows: pd.DataFrame, words: list[str]) -> None:
    printed = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for name in words:
        printed.add_column(_heading(name))
    numbers = {heading: name for heading, name in _NUMBERS.items() if rows[name].notna().any()}
    shares = {heading: name for heading, name in _SHARES.items() if rows[name].notna().any()}
    for heading in [*numbers, *shares]:
        printed.add_column(heading, justify="right", no_wrap=True)
    has_switches = rows["switches"].notna().any()
    if has_switches:
        printed.add_column("time jumps at")
    for row in records(rows):
        printed.add_row(
            *(safe_text(row[name] or "-") for name in words),
            *(_number(row, name) for name in numbers.values()),
            *(_share(name, row[name]) for name in shares.values()),
            *([boundaries_text(row["switches"])] if has_switches else []),
        )
    show_table(console, printed)


def _share(name: str, value: float | None) -> str:
    if value is None:
        return "-"
    return f"{100 * value:.0f} %" if name == "share_of_link" else significant(value)


def _number(row: Mapping[Any, Any], name: str) -> str:
    value = row[name]
    if value is None:
        return "-"
    text = significant(value)
    if name == "peak_MBps" and row["peak_of"] == "round trips":
        text += "*"
    if name == "link_MBps":
        return f"{text} {row['link_from']}"
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    return text if low is None else f"{text} [{significant(low)}, {significant(high)}]"
