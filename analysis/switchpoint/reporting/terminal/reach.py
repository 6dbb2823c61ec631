"""Prints what each site reaches, and how much of what its link and sockets allow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
from rich.console import Console
from rich.table import Table

from switchpoint.reporting.terminal.tables import SafeConsole, safe_text, show_table
from switchpoint.tables.columns import none_for_nulls
from switchpoint.tables.units import significant

#: Columns of numbers: heading and the column of the table.
_NUMBERS = {
    "latency / us": "latency_us",
    "n1/2 / B": "half_size_bytes",
    "peak / (MB/s)": "peak_MBps",
    "messages / s": "messages_per_s",
    "link / (MB/s)": "link_MBps",
}


def print_reach(table: pd.DataFrame) -> None:
    """Print a table for each site, with a row for each MPI, placement and benchmark."""
    console = SafeConsole()
    for (side, site), rows in table.groupby(["side", "site"], dropna=False, sort=False):
        heading = site if isinstance(site, str) else "no site"
        several = len(set(table["side"])) > 1
        console.print(safe_text(f"{side}: {heading}" if several else heading, style="bold"))
        _print_rows(console, rows)
        console.print()
    console.print(
        "Latency: half a round trip of the smallest size. n1/2: the size with half of the largest"
        " bandwidth of round trips. Peak and messages: a stream in one direction, or else round"
        " trips (*). Brackets: 95 % interval over launches.",
        soft_wrap=True,
    )


def _print_rows(console: Console, rows: pd.DataFrame) -> None:
    printed = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    words = [
        name for name in ("mpi", "environ", "placement", "benchmark")
        if name != "environ" or rows["mpi"].isna().any()
    ]  # fmt: skip
    for name in words:
        printed.add_column("MPI" if name == "mpi" else name, overflow="fold")
    for heading in [*_NUMBERS, "share of link", "over sockets"]:
        printed.add_column(heading, justify="right", no_wrap=True)
    for row in none_for_nulls(rows).to_dict("records"):
        share, over = row["share_of_link"], row["over_sockets"]
        printed.add_row(
            *(safe_text(row[name] or "-") for name in words),
            *(_number(row, name) for name in _NUMBERS.values()),
            "-" if share is None else f"{100 * share:.0f} %",
            "-" if over is None else significant(over),
        )
    show_table(console, printed)


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
