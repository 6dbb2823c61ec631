"""Prints what each site reaches, and how much of what its link and sockets allow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
from rich.console import Console
from rich.table import Table

from switchpoint.reporting.ladders import boundaries_text
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
    """Print one table with a row for each site, MPI, placement and benchmark."""
    console = SafeConsole()
    _print_rows(console, table)
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
        name for name in ("side", "site", "mpi", "environ", "placement", "benchmark")
        if (name != "environ" or rows["mpi"].isna().any())
        and (name != "side" or len(set(rows["side"])) > 1)
    ]  # fmt: skip
    for name in words:
        printed.add_column("MPI" if name == "mpi" else name, overflow="fold")
    for heading in [*_NUMBERS, "share of link", "over sockets"]:
        printed.add_column(heading, justify="right", no_wrap=True)
    has_switches = rows["switches"].notna().any()
    if has_switches:
        printed.add_column("time jumps between", overflow="fold")
    for row in none_for_nulls(rows).to_dict("records"):
        share, over = row["share_of_link"], row["over_sockets"]
        printed.add_row(
            *(safe_text(row[name] or "-") for name in words),
            *(_number(row, name) for name in _NUMBERS.values()),
            "-" if share is None else f"{100 * share:.0f} %",
            "-" if over is None else significant(over),
            *([boundaries_text(row["switches"])] if has_switches else []),
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
