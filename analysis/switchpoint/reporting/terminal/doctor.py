"""Prints what `doctor` found of this machine or of a site."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.table import Table

from switchpoint.printable import printable
from switchpoint.reporting.terminal.tables import SafeConsole, safe_text, show_line, show_table
from switchpoint.tables.units import counted

if TYPE_CHECKING:
    from switchpoint.sites.doctor import Fact

_STATE_STYLES = {"ok": "green", "poor": "yellow", "missing": "red"}


def print_facts(facts: Iterable[Fact]) -> None:
    """Print what `doctor` found as a table, with each fix below its problem."""
    console = SafeConsole()
    table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
    problems = 0
    for fact in facts:
        table.add_row(
            safe_text(fact.state, style=_STATE_STYLES[fact.state]),
            safe_text(fact.topic),
            safe_text(fact.found),
        )
        if fact.fix:
            problems += 1
            table.add_row("", "", safe_text(f"fix: {fact.fix}", style="bold"))
    show_table(console, table)
    show_line(
        console, f"{counted(problems, 'problem')} found." if problems else "No problem found."
    )


def print_examination(facts: Iterable[Fact]) -> int:
    """Print each fact when it is found, and count the problems.

    Returns
    -------
    int
        How many facts are in the state `missing`.
    """
    problems = 0
    for fact in facts:
        problems += fact.state == "missing"
        if fact.state == "ok":
            print(printable(f"ok  {fact.topic}: {fact.found}"), flush=True)
        else:
            source = fact.place or fact.topic
            print(printable(f"{source}: {fact.found}; {fact.fix}"), flush=True)
    print(
        f"{problems} problem{'' if problems == 1 else 's'} found"
        if problems
        else "no problem found"
    )
    return problems
