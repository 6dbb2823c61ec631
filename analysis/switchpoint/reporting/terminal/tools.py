"""Prints the round trips of each tool."""

from __future__ import annotations

import pandas as pd
from rich.table import Table

from switchpoint.comparison.tools import missing_tools
from switchpoint.reporting.terminal.tables import SafeConsole, safe_text, show_line, show_table
from switchpoint.tables.units import significant, size_text


def print_tools(table: pd.DataFrame) -> None:
    """Print round trips as a table per placement with a row per tool, the fastest first."""
    console = SafeConsole()
    for place, part in table.groupby(["site", "placement"], sort=False):
        show_line(console, ", ".join(map(str, place)), style="bold")
        printed = Table(box=None, padding=(0, 1, 0, 0), header_style="dim")
        printed.add_column("round trip / us", no_wrap=True)
        for size in sorted(part["size_bytes"].unique()):
            printed.add_column(size_text(size), justify="right", no_wrap=True)
        cells = part.assign(cell=part["round_trip_us"].map(significant)).pivot_table(
            index="tool", columns="size_bytes", values="cell", aggfunc="first"
        )
        order = part.groupby("tool")["median_us"].sum().sort_values().index
        for tool, row in cells.loc[order].fillna("-").iterrows():
            printed.add_row(safe_text(str(tool)), *row)
        show_table(console, printed)
        console.print()
    show_line(
        console, "Values: mean of a run without the best and the worst; median over several runs."
    )
    missing = missing_tools(table)
    if missing:
        show_line(console, f"Not measured: {', '.join(missing)}.")
