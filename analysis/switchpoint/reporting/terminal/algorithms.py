"""Prints which algorithms collectives use: a table for each collective and place."""

from __future__ import annotations

import pandas as pd
from rich.table import Table

from switchpoint.comparison.algorithms import RESULTS
from switchpoint.reporting.algorithms import answered
from switchpoint.reporting.terminal.tables import SafeConsole, safe_text, show_line, show_table
from switchpoint.tables.naming import curve_name
from switchpoint.tables.units import percent


def print_algorithms(table: pd.DataFrame) -> None:
    """Print a row for each range of sizes with the same algorithms."""
    console = SafeConsole()
    place = [str(name) for name in table if name not in RESULTS]
    named = [name for name in place if name != "ranks" and table[name].notna().any()]
    for key, part in table.groupby(place, dropna=False, observed=True, sort=False):
        values = dict(zip(place, key, strict=True))
        heading = curve_name(named, tuple(values[name] for name in named))
        count = part["launches"].iloc[0]
        show_line(
            console,
            f"{heading}, {values['ranks']} ranks, {count} launch{'' if count == 1 else 'es'}",
            style="bold",
        )
        printed = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
        printed.add_column("sizes", no_wrap=True)
        printed.add_column("the library uses")
        printed.add_column("probability", justify="right", no_wrap=True)
        printed.add_column("faster")
        printed.add_column("the library takes longer by", justify="right", no_wrap=True)
        for answer in answered(part):
            fastest = answer.rows["fastest"].iloc[0]
            printed.add_row(
                answer.sizes,
                safe_text(answer.used),
                answer.probability,
                safe_text(fastest or "-"),
                _range(answer.rows["loss"]) if fastest else "-",
            )
        show_table(console, printed)
        console.print()
    show_line(
        console,
        "Probability: that the library uses the algorithm, or one of those that are named together"
        " because their times do not differ enough.",
    )
    if table["launches"].min() < 2:
        show_line(
            console,
            "Faster: known only with two launches or more (make measure LAUNCHES=3).",
        )


def _range(loss: pd.Series[float]) -> str:
    low, high = percent(loss.min()), percent(loss.max())
    return low if low == high else f"{low.removesuffix(' %')} to {high}"
