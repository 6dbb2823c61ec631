"""Tables and text for the terminal: safe to show, with numbers that are never cut."""

from __future__ import annotations

from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from switchpoint.printable import printable

#: Columns in the heading of a group of findings. The rest of the identity is in the table.
HEADING = ["site", "partition", "mpi", "environ", "kernel"]


def cell_text(name: str, value: Any) -> str:
    """Write one value of an identity column; of a run's identity the first digits."""
    if not isinstance(value, str):
        return "-"
    return value[:8] if name == "run_id" else value


class SafeConsole(Console):
    """A console on which no text is markup, and control characters are printed as escapes.

    Text that is given as a string comes through here, also cells and headings of tables. Text with
    a style is made by `safe_text`.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(highlight=False, markup=False, emoji=False, **options)

    def render_str(self, text: str, **options: Any) -> Text:
        """Convert a string, line by line."""
        return super().render_str("\n".join(map(printable, text.split("\n"))), **options)


def safe_text(words: str, style: str = "") -> Text:
    """Return text for the terminal, without interpreting control characters or markup."""
    return Text(printable(words), style)


def show_table(console: Console, table: Table) -> None:
    """Print a table without cutting numbers: words are wrapped, or lines become longer.

    In a pipe, which has no width, each row is one line.
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
    """Return the width of a table with each row on one line."""
    return sum(max(map(cell_len, _lines_of(column))) + 2 for column in table.columns)


def _least_width(column: Column) -> int:
    """Return the smallest width of a column that cuts no word."""
    lines = _lines_of(column)
    if column.no_wrap:
        return max(map(cell_len, lines))
    return max(cell_len(word) for line in lines for word in line.split() or [""])


def _lines_of(column: Column) -> list[str]:
    cells = [column.header, *column.cells]
    texts = (cell.plain if isinstance(cell, Text) else str(cell) for cell in cells)
    return [line for text in texts for line in text.splitlines() or [""]]
