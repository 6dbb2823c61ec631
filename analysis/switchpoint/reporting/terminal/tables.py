"""Tables and text for the terminal: safe to show, no wider than it, with numbers never cut."""

from __future__ import annotations

import re
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from switchpoint.printable import printable

#: The longest line of a table in a pipe.
MOST_CHARACTERS = 200

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
    """Print a table without cutting a word: cells are wrapped, or each row becomes a few lines.

    In a pipe, which has no width, a row that is not too long is one line.
    """
    most = most_width(console)
    least = sum(map(_least_width, table.columns)) + 2 * len(table.columns)
    if least > most:
        _show_stacked(console, table, most)
        return
    for column in table.columns:
        column.min_width = _least_width(column)
    before, console.width = console.width, min(table_width(table), most)
    if console.is_terminal:
        console.print(table)
        console.width = before
        return
    with console.capture() as captured:
        console.print(table)
    console.width = before
    for line in captured.get().splitlines():
        console.out(line.rstrip(), highlight=False)


def show_line(console: Console, words: str | Text, style: str = "") -> None:
    """Print a sentence; what is too long continues in the next line, which is indented."""
    text = safe_text(words, style) if isinstance(words, str) else words
    most = most_width(console)
    if text.cell_len <= most:
        console.print(text, soft_wrap=True)
        return
    blanks = len(text.plain) - len(text.plain.lstrip())
    breaks = _breaks(text.plain, most - blanks - 2)
    for number, line in enumerate(text.divide(breaks)):
        line.rstrip()
        console.print(Text(" " * (blanks + 2)) + line if number else line, soft_wrap=True)


def _breaks(words: str, most: int) -> list[int]:
    """Return where the next lines begin. A path that is too long stays in one piece."""
    breaks, width = [], 0
    for found in re.finditer(r"\S+\s*", words):
        if width and width + cell_len(found[0].rstrip()) > most:
            breaks.append(found.start())
            width = 0
        width += cell_len(found[0])
    return breaks


def most_width(console: Console) -> int:
    """Return the width of the terminal, or of the longest line in a pipe."""
    return console.width if console.is_terminal else MOST_CHARACTERS


def _show_stacked(console: Console, table: Table, most: int) -> None:
    """Print each row as lines: its words, then its numbers, each with its heading."""
    rows = zip(*(column.cells for column in table.columns), strict=True)
    for cells in rows:
        named = [
            (str(column.header), _plain(cell), column.justify == "right")
            for column, cell in zip(table.columns, cells, strict=True)
        ]
        words = [
            f"{heading} {text}".strip() for heading, text, right in named
            if not right and text not in {"", "-"}
        ]  # fmt: skip
        numbers = [f"{heading} {text}".strip() for heading, text, right in named
                   if right and text not in {"", "-"}]  # fmt: skip
        for parts, indent, style in ((words, "", "bold"), (numbers, "  ", "")):
            for line in _filled(parts, most, indent):
                console.print(safe_text(line, style=style), soft_wrap=True)


def _filled(parts: list[str], most: int, indent: str) -> list[str]:
    """Join parts with commas into lines that are not too long; a part is broken between words."""
    lines = [""]
    for number, part in enumerate(parts):
        ended = part + ("," if number + 1 < len(parts) else "")
        for word in [ended] if cell_len(ended) + len(indent) <= most // 2 else ended.split():
            if lines[-1] and cell_len(indent + lines[-1] + word) + 1 > most:
                lines.append(f"  {word}")
            else:
                lines[-1] = f"{lines[-1]} {word}" if lines[-1] else word
    return [indent + line for line in lines if line]


def _plain(cell: Any) -> str:
    return cell.plain if isinstance(cell, Text) else str(cell)


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
    return [line for cell in cells for line in _plain(cell).splitlines() or [""]]
