"""Prints what `detect` found: what is confirmed, then the findings, in few lines."""

from __future__ import annotations

import functools
import io
from collections.abc import Callable

import pandas as pd
from rich.cells import cell_len
from rich.console import Console

from switchpoint.explanation.causes import PROMINENT_CONFIDENCE
from switchpoint.reporting.digest import (
    SORTS,
    Line,
    digest,
    first_of_each_place,
    sort_findings,
    sort_lines,
    worth_a_line,
)
from switchpoint.reporting.places_of_lines import a_filter, filters_text
from switchpoint.reporting.terminal.each_finding import print_each
from switchpoint.reporting.terminal.folded import show_lines
from switchpoint.reporting.terminal.proved_causes import Proved, proved_causes, show_proved
from switchpoint.reporting.terminal.tables import SafeConsole, show_line
from switchpoint.reporting.terminal.words import kind_text
from switchpoint.tables.columns import identity_columns
from switchpoint.tables.units import counted, range_text

#: The largest number of printed lines; --all prints the rest.
MOST_LINES = 36

#: What one measurement of each size leaves open.
_ONCE = (
    "Each size was measured once, so only the scatter between sizes shows the noise. Together with"
    " a second run of the same benchmark, detect finds more, with more confidence."
)


def print_findings(
    findings: pd.DataFrame,
    curves: pd.DataFrame,
    switches: pd.DataFrame | None = None,
    *,
    disturbed: str = "",
    show_all: bool = False,
    sort: str | None = None,
    min_confidence: float = PROMINENT_CONFIDENCE,
) -> None:
    """Print proved causes, then the summarised findings in at most `MOST_LINES` lines.

    Parameters
    ----------
    findings, curves
        As from `detect` and `summarise`.
    switches
        As from `explain`, if there are zooms.
    disturbed
        As from `disturbed_text`.
    show_all
        Print each finding of each curve instead, with its suspects.
    sort
        One of `digest.SORTS`.
    min_confidence
        As for `digest`.
    """
    console = SafeConsole()
    searched = counted(_curve_count(curves), "curve")
    if disturbed:
        show_line(console, disturbed)
    if findings.empty:
        show_line(console, f"Nothing found in {searched}.")
        _hint(console, curves)
        return
    proved = proved_causes(switches)
    if show_all:
        show_proved(console, proved)
        print_each(console, sort_findings(findings, sort) if sort else findings)
        show_line(console, f"{counted(len(findings), 'finding')} in {searched}.")
        return
    lines = sort_lines(digest(findings, curves, min_confidence), sort or SORTS[0])
    printed = _print_folded(console, lines, curves, proved)
    uncertain = sum(line.matters and not line.notable for line in lines)
    if uncertain and any(line.notable for line in lines):
        are = "line is" if uncertain == 1 else "lines are"
        least = f"{100 * min_confidence:.0f} %"
        told = (
            f"{uncertain:,} more {are} less certain than {least}: --min-confidence=0 prints them."
        )
        show_line(console, told)
    rest = len(findings) - sum(len(line.magnitudes) for line in printed)
    are = "is" if rest == 1 else "are"
    more = f"; {rest:,} of them {are} not shown, --all prints every finding" if rest else ""
    if rest and (example := a_filter(curves)):
        show_line(
            console,
            f"To see some of them: --curve {example}, --only step, --sort confidence. Curves differ"
            f" in {filters_text(curves)}.",
        )
    show_line(console, f"{counted(len(findings), 'finding')} in {searched}{more}.")
    _hint(console, curves)


def _hint(console: Console, curves: pd.DataFrame) -> None:
    """Say what to do about curves that were measured once."""
    if curves.empty or (curves["count"] != 1).any():
        return
    same = [name for name in identity_columns(curves) if name != "run_id"]
    if not curves.duplicated([*same, "size_bytes"]).any():
        show_line(console, _ONCE)


def _print_folded(
    console: Console,
    lines: list[Line],
    curves: pd.DataFrame,
    proved: list[Proved],
) -> list[Line]:
    """Print proved causes and what fits of the lines; returns the lines that were printed."""
    notable = worth_a_line(lines)
    # Proved causes get at most a third of the lines. Then come lines and notes, if they fit.
    del proved[MOST_LINES // 3 :]
    printed = _rendered(console, lambda target: show_proved(target, proved))
    left = MOST_LINES - printed - 3
    shown = first_of_each_place(notable, left)
    while True:
        notes = _notes(shown)
        needed = _rendered(console, functools.partial(show_lines, lines=shown, curves=curves))
        if needed <= left or not shown:
            break
        shown = first_of_each_place(notable, len(shown) - max(1, (needed - left) // 3))
    show_proved(console, proved)
    show_lines(console, shown, curves)
    for note in notes:
        needed += _rendered(console, functools.partial(show_line, words=note))
        if needed > left:
            break
        show_line(console, note)
    return shown


def _curve_count(curves: pd.DataFrame) -> int:
    identity = identity_columns(curves)
    return len(curves[identity].drop_duplicates()) if identity else min(len(curves), 1)


def _rendered(console: Console, show: Callable[[Console], None]) -> int:
    """Return how many lines something needs on the console."""
    text = io.StringIO()
    target = SafeConsole(
        width=console.width,
        file=text,
        force_terminal=console.is_terminal,
        color_system=None,
    )
    show(target)
    return sum(_height(console, line) for line in text.getvalue().splitlines())


def _height(console: Console, line: str) -> int:
    """Return how many lines a terminal needs for one line."""
    return max(1, -(-cell_len(line) // console.width)) if console.is_terminal else 1


def _notes(lines: list[Line]) -> list[str]:
    """Return each suspect of the lines once, with the sizes that it would explain."""
    sizes: dict[str, dict[str, None]] = {}
    for line in lines:
        size = f"{kind_text(line.kind)} at {range_text(line.last_size_before, line.size_bytes)}"
        for note in line.notes:
            sizes.setdefault(note, {})[size] = None
    return [f"{'; '.join(where)}: {note}" for note, where in sizes.items()]
