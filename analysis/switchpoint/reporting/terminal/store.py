"""Prints what a store contains."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from rich.table import Table

from switchpoint.printable import printable
from switchpoint.reporting.terminal.tables import SafeConsole, safe_text, show_table

_NUMBERS = {"runs", "sessions", "truncated", "parameters", "findings", "size_bytes"}
_HEADINGS = {"size_bytes": "MB"}


def print_contents(table: pd.DataFrame) -> None:
    """Print the table of `store.contents`."""
    shown = Table(box=None, pad_edge=False)
    for name in table:
        right = name in _NUMBERS
        shown.add_column(_HEADINGS.get(str(name), str(name)), justify="right" if right else "left")
    for row in table.to_dict("records"):
        shown.add_row(*(safe_text(_cell(str(name), value)) for name, value in row.items()))
    show_table(SafeConsole(), shown)


def print_run(row: Mapping[str, object]) -> None:
    """Print what a store knows of one run, a line for each column."""
    width = max(map(len, row))
    for name, value in row.items():
        print(printable(f"{name:{width}}  {'-' if value is None else value}"))


def _cell(name: str, value: object) -> str:
    if value is None:
        return "-"
    if name == "size_bytes":
        return f"{float(str(value)) / 1e6:,.1f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
