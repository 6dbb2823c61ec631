"""Prints rules for the algorithms of collectives: what each gained, and in fresh launches."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table

from switchpoint.reporting.terminal.recommend import print_written
from switchpoint.reporting.terminal.tables import SafeConsole, safe_text, show_line, show_table

if TYPE_CHECKING:
    from switchpoint.tuning.facts import Group, SizeRange, Tuning


def print_tuning(tuning: Tuning, written: Sequence[Path] | None) -> None:
    """Print a table for each collective, then what has no rule, and the files."""
    console = SafeConsole()
    for group in tuning.groups:
        show_line(console, f"{group.place}, {tuning.mpi}", style="bold")
        show_table(console, _table(group))
    for note in tuning.notes:
        show_line(console, f"note: {note}")
    if not tuning.rules():
        show_line(console, _why_none(tuning))
        for path in written or []:
            console.print(safe_text(str(path)), soft_wrap=True)
        if written:
            show_line(console, "these files of earlier rules now set nothing")
    elif written is not None:
        print_written(written)
    else:
        show_line(console, "no file was written: name a folder with --output")


def _why_none(tuning: Tuning) -> str:
    if any(one.withdrawn for group in tuning.groups for one in group.winners):
        return "no rule is left: none won in fresh launches"
    gain = f"{100 * tuning.least_gain:g} %"
    return f"no rule: nothing is faster than the library's choice by {gain} in every launch"


def _table(group: Group) -> Table:
    """Return a row for each range of sizes with the same algorithm and verdict."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("sizes", no_wrap=True)
    table.add_column("use")
    table.add_column("times as fast", no_wrap=True)
    table.add_column("fresh launches")
    for part in group.ranges():
        table.add_row(part.sizes, safe_text(_use(part)), _gains(part), _again(part))
    return table


def _use(part: SizeRange) -> str:
    if not part.winners:
        return "the library's choice"
    first = part.winners[0]
    if first.withdrawn:
        return f"the library's choice ({first.algorithm} withdrawn)"
    return first.algorithm


def _gains(part: SizeRange) -> str:
    return part.gains if part.winners else "-"


def _again(part: SizeRange) -> str:
    if not part.winners:
        return "-"
    verdict, gains = part.winners[0].verdict, part.gains_again
    return f"{verdict}: {gains}" if gains else verdict
