"""Tables and text for the terminal: safe to show, with numbers that are never cut."""

from __future__ import annotations

from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from switchpoint.printable import printable

#: Columns that head a group of findings; the rest of the identity is a table's columns.
HEADING = ["site", "partition", "mpi", "environ", "kernel"]


def cell_text(name: str, value: Any) -> str:
    """Write one value of an identity column; of a run's identity the first digits."""
    if not isinstance(value, str):
        return "-"
    return value[:8] if name == "run_id" else value


def safe_text(words: str, style: str = "") -> Text:
    """Text for the terminal: what data hold is shown, never obeyed, neither control nor markup."""
    return Text(printable(words), style)


def show_table(console: Console, table: Table) -> None:
    """Print a table whose numbers are never cut: words fold, or lines become longer.

    Where nobody sees how wide the output is, as in a pipe, each row is one line.
    """
    width = table_width(table)
    if console.is_terminal:
        least = sum(map(_least_width, table.columns)) + 2 * len(table.columns)
        width = min(width, max(console.width, least))
    for column in table.columns:
        column.overflow = "fold"
    before, console.width = console.width, width
    console.print(table)
    console.width = before


def table_width(table: Table) -> int:
    """How wide a table is with each row on one line."""
    return sum(max(map(cell_len, _lines_of(column))) + 2 for column in table.columns)


def _least_width(column: Column) -> int:
    """How narrow a column can be without a cut through a word."""
    lines = _lines_of(column)
    if column.no_wrap:
        return max(map(cell_len, lines))
    return max(cell_len(word) for line in lines for word in line.split() or [""])


def _lines_of(column: Column) -> list[str]:
    cells = [column.header, *column.cells]
    texts = (cell.plain if isinstance(cell, Text) else str(cell) for cell in cells)
    return [line for text in texts for line in text.splitlines() or [""]]
