"""Prints rules for the algorithms of collectives: what each gained, and in fresh launches."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table

from switchpoint.reporting.terminal.recommend import print_written
from switchpoint.reporting.terminal.tables import SafeConsole, safe_text, show_line, show_table
from switchpoint.tables.units import range_text, significant, significant_range

if TYPE_CHECKING:
    from switchpoint.tuning.facts import Group, Tuning, Winner


def print_tuning(tuning: Tuning, written: Sequence[Path] | None) -> None:
    """Print a table for each collective, then what has no rule, and the files."""
    console = SafeConsole()
    for group in tuning.groups:
        nodes = f"{group.nodes} node{'s'[: group.nodes != 1]}"
        title = f"{group.kernel} on {group.ranks} ranks, {nodes}, {tuning.mpi}"
        show_line(console, title, style="bold")
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
    winners = {one.size_bytes: one for one in group.winners}
    for _, same in groupby(group.sizes_bytes, key=lambda size: _row(winners.get(size))):
        sizes = list(same)
        there = [winners[size] for size in sizes if size in winners]
        use, verdict = _row(there[0] if there else None)
        table.add_row(
            range_text(sizes[0], sizes[-1]), safe_text(use), _gains(there), _again(there, verdict)
        )
    return table


def _row(winner: Winner | None) -> tuple[str, str]:
    """Return what to use, and the verdict."""
    if winner is None:
        return "the library's choice", ""
    if winner.checked is None:
        return winner.algorithm, "not checked"
    if winner.withdrawn:
        return f"the library's choice ({winner.algorithm} withdrawn)", "withdrawn"
    return winner.algorithm, "confirmed"


def _gains(winners: list[Winner]) -> str:
    if not winners:
        return "-"
    low = significant(min(one.gain_low for one in winners))
    high = significant(max(one.gain_high for one in winners))
    return f"{significant_range(one.gain for one in winners)} [{low}, {high}]"


def _again(winners: list[Winner], verdict: str) -> str:
    checks = [one.checked.gain for one in winners if one.checked is not None]
    return f"{verdict}: {significant_range(checks)}" if checks else verdict or "-"
