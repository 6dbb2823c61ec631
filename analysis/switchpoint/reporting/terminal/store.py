"""Prints what a store contains."""

from __future__ import annotations

import pandas as pd
from rich.table import Table

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


def _cell(name: str, value: object) -> str:
    if value is None:
        return "-"
    if name == "size_bytes":
        return f"{float(str(value)) / 1e6:,.1f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
