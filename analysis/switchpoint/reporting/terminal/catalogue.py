"""Prints the catalogue's settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.table import Table

from switchpoint.reporting.terminal.tables import SafeConsole, show_line, show_table

if TYPE_CHECKING:
    from switchpoint.explanation.entries import Entries
    from switchpoint.explanation.stack import Stack


def print_entries(entries: Entries) -> None:
    """Print a row for each setting; for a run, its layers before and the values in the table."""
    console = SafeConsole()
    stack = entries.stack
    if stack is not None:
        show_line(console, f"{stack.library}, {(entries.path or 'unknown').replace('_', ' ')}")
        show_line(console, f"layers: {_layers(stack)}")
    if not entries.rows:
        show_line(console, "The catalogue has no setting of these layers on this path.")
        return
    printed = Table(box=None, padding=(0, 1, 0, 0), header_style="dim")
    headings = ["setting", *(["value", "set by"] if stack else ["layer", "path"]), "changes"]
    for heading in [*headings, "verified with"]:
        printed.add_column(heading, no_wrap=heading == "setting")
    for row in entries.rows:
        cells = _of_run(row) if stack else _of_catalogue(row)
        printed.add_row(row["variable"], *cells, row["governs"], row["verified"] or "not seen here")
    show_table(console, printed)


def _layers(stack: Stack) -> str:
    """Write each layer with its transports."""
    words = [
        f"{layer} ({', '.join(sorted(names)) if names is not None else 'transports not known'})"
        for layer, names in stack.transports.items()
    ]
    return "; ".join(words) or "not known"


def _of_run(row: dict[str, Any]) -> list[str]:
    known = row["value"] is not None
    return [str(row["value"]), row["set_by"]] if known else ["not set", "-"]


def _of_catalogue(row: dict[str, Any]) -> list[str]:
    only = ", ".join([*row["transport"], *row["library"]])
    layer = row["layer"] or "any"
    return [f"{layer}: {only}" if only else layer, row["path"].replace("_", " ")]
