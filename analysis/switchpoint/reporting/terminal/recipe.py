"""Prints what a run needs, and what differs on this machine."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.table import Table

from switchpoint.reporting.terminal.tables import SafeConsole, safe_text, show_line, show_table

if TYPE_CHECKING:
    from switchpoint.reproduction.differences import Difference
    from switchpoint.reproduction.recipe import Recipe


def print_recipe(recipe: Recipe, differences: Iterable[Difference]) -> None:
    """Print what a run needs, then what differs on this machine."""
    console = SafeConsole()
    table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
    table.add_column(no_wrap=True, style="bold")
    table.add_column(overflow="fold")
    for term, text in recipe.facts():
        table.add_row(safe_text(term), safe_text(text))
    show_table(console, table)
    found = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for heading in ("difference", "there", "here"):
        found.add_column(heading, overflow="fold")
    for difference in differences:
        found.add_row(*map(safe_text, (difference.topic, difference.there, difference.here)))
    console.print()
    if found.row_count:
        show_table(console, found)
    else:
        show_line(console, "There is no known difference on this machine.")
