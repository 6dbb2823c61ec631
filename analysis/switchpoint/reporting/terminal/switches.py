"""Prints what `explain` knows: where each switch is and why."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd
from rich.console import Console
from rich.table import Table

from switchpoint.explanation.eager import StayedEager
from switchpoint.explanation.places import Explained
from switchpoint.explanation.switches import notable
from switchpoint.reporting.terminal.tables import (
    HEADING,
    SafeConsole,
    cell_text,
    safe_text,
    show_line,
    show_table,
)
from switchpoint.tables.columns import records, values_of
from switchpoint.tables.units import percent, size_text


def print_switches(switches: pd.DataFrame, *, show_all: bool = False) -> None:
    """Print position and cause of each switch, or only of notable ones, with a table per MPI."""
    console = SafeConsole()
    total = len(switches)
    if not show_all:
        switches = switches[notable(switches)]
    for values, group in switches.groupby(HEADING, dropna=False, sort=False):
        show_line(console, ", ".join(v for v in values if isinstance(v, str)), style="bold")
        table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
        for heading in ("placement", "mode"):
            table.add_column(heading, no_wrap=True)
        for heading in ("last / B", "first / B", "time"):
            table.add_column(heading, justify="right", no_wrap=True)
        for heading in ("kind", "cause"):
            table.add_column(heading, no_wrap=True)
        for row in records(group, Explained):
            table.add_row(
                safe_text(cell_text("placement", row["placement"])),
                safe_text(cell_text("mode", row["mode"])),
                f"{row['last_size_bytes']:,}",
                f"{row['first_size_bytes']:,}",
                "-" if row["magnitude"] is None else percent(row["magnitude"]),
                row["kind"].replace("_", " "),
                safe_text(_cause(row)),
            )
        show_table(console, table)
        _print_reasons(console, group)
        console.print()
    hidden = total - len(switches)
    more = f"; {hidden} of them are small and have no cause, --all prints them" if hidden else ""
    show_line(console, f"{total} switch{'' if total == 1 else 'es'} and steps{more}.")


def print_sentences(switches: pd.DataFrame, size_bytes: int | None = None) -> None:
    """Print what is known of switches, or of those near a size, with a paragraph for each."""
    console = SafeConsole()
    if switches.empty:
        near = "" if size_bytes is None else f" near {size_text(size_bytes)}"
        show_line(console, f"There is no switch or step{near}.")
    for row in records(switches, Explained):
        words = values_of(row, (*HEADING, "placement", "mode"))
        show_line(console, ", ".join(v for v in words if isinstance(v, str)), style="bold")
        last, first = f"{row['last_size_bytes']:,} B", f"{row['first_size_bytes']:,} B"
        if row["kind"] == "protocol_switch" and row["exact"]:
            says = f"the protocol switches between {last} and {first}"
        elif row["exact"]:
            says = f"a step between {last} and {first}"
        else:
            says = f"a step somewhere between {last} and {first}"
        time = "" if row["magnitude"] is None else f", time {percent(row['magnitude'])}"
        show_line(console, f"  {says}{time}")
        show_line(console, f"  cause {row['status']}: {row['reason']}")


def _print_reasons(console: Console, switches: pd.DataFrame) -> None:
    """Print each reason once, with the runs that support it."""
    runs: dict[str, dict[tuple[str, str], None]] = {}
    for row in records(switches, Explained):
        tried = any(entry["method"] == "intervention" for entry in row["evidence"])
        if row["cause"] is not None or tried:
            told = [(word["method"], word["run_id"][:8]) for word in row["evidence"]]
            runs.setdefault(row["reason"], {}).update(dict.fromkeys(told))
    for reason, evidence in runs.items():
        show_line(console, f"{reason} ({_runs_text(evidence)})")


def _runs_text(evidence: Iterable[tuple[str, str]]) -> str:
    """Return the runs by method: the run itself, or how many there are."""
    runs: dict[str, list[str]] = {}
    for method, run_id in evidence:
        runs.setdefault(method.replace("_", " "), []).append(run_id)
    return ", ".join(
        f"{method} {ids[0]}" if len(ids) == 1 else f"{method}: {len(ids)} runs"
        for method, ids in runs.items()
    )


def _cause(row: Explained) -> str:
    if row["cause"] is None:
        words = {"unknown": "-", "none": "no setting moves it"}
        return words.get(row["status"], row["status"])
    return f"{row['cause']}, {row['status']}"


def print_stayed_eager(eager: pd.DataFrame) -> None:
    """Print a sentence for each curve in which MPI_Send never waited for its receiver."""
    console = SafeConsole()
    for row in records(eager, StayedEager):
        words = values_of(row, (*HEADING, "placement", "mode"))
        show_line(console, ", ".join(v for v in words if isinstance(v, str)), style="bold")
        show_line(console, f"  {row['reason']}")
