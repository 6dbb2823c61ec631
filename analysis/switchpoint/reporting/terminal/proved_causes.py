"""Prints the causes that are confirmed, and the settings that govern a switch, one line each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
from rich.console import Console

from switchpoint.explanation.verdicts import CONFIRMED, GOVERNED, RANK
from switchpoint.reporting.digest import PLACE
from switchpoint.reporting.terminal.tables import show_line
from switchpoint.reporting.terminal.words import change_range, listed
from switchpoint.tables.units import range_text


def proved_causes(switches: pd.DataFrame | None) -> list[dict[Any, Any]]:
    """Return switches with a proved cause or governor, grouped by place, bracket and cause.

    Confirmed causes come first, then what changes most.
    """
    if switches is None or switches.empty:
        return []
    known = switches[switches["status"].isin([CONFIRMED, GOVERNED])]
    by = [
        *(name for name in PLACE if name in known),
        "placement",
        "last_size_bytes",
        "status",
        "cause",
    ]
    rows = []
    for _, group in known.groupby(by, dropna=False, sort=False):
        row = group.iloc[0].to_dict()
        row["modes"] = sorted({mode for mode in group["mode"] if isinstance(mode, str)})
        row["magnitudes"] = group["magnitude"].dropna().tolist()
        rows.append(row)
    return sorted(rows, key=_priority)


def _priority(row: Mapping[Any, Any]) -> tuple[int, float]:
    return RANK[row["status"]], -max(map(abs, row["magnitudes"]), default=0.0)


def show_proved(console: Console, rows: list[dict[Any, Any]]) -> None:
    """Print a line for each row that `proved_causes` returned."""
    if not rows:
        return
    show_line(console, "Causes of switches", style="bold")
    for row in rows:
        place = _place_words({name: row.get(name) for name in PLACE})
        where = ", ".join(word for word in (place, row["placement"], listed(row["modes"])) if word)
        size = range_text(row["last_size_bytes"], row["first_size_bytes"])
        time = f", time {change_range(row['magnitudes'])}" if row["magnitudes"] else ""
        value = "" if row["value"] is None else f" = {row['value']}"
        cause = f"{row['cause']}{value}, {row['status']}"
        show_line(console, f"{where}: {size}{time}: {cause}")
    console.print()


def _place_words(place: Mapping[str, str | None]) -> str:
    """Name a place: the MPI library, or the environment if the library is not known."""
    return ", ".join(word for word in place.values() if isinstance(word, str))
