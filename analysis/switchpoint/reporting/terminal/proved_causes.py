"""Prints the causes that are confirmed, and the settings that govern a switch, one line each."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
from rich.console import Console

from switchpoint.explanation.places import Explained
from switchpoint.explanation.verdicts import CONFIRMED, GOVERNED, RANK
from switchpoint.reporting.digest import PLACE
from switchpoint.reporting.terminal.tables import show_line
from switchpoint.reporting.terminal.words import change_range, listed
from switchpoint.tables.columns import records, values_of
from switchpoint.tables.units import range_text


@dataclass(frozen=True)
class Proved:
    """A cause or governor of a switch, proved in some modes, whose times change by `magnitudes`."""

    switch: Explained
    modes: list[str]
    magnitudes: list[float]


def proved_causes(switches: pd.DataFrame | None) -> list[Proved]:
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
        [switch] = records(group.head(1), Explained)
        modes = sorted({mode for mode in group["mode"] if isinstance(mode, str)})
        rows.append(Proved(switch, modes, group["magnitude"].dropna().tolist()))
    return sorted(rows, key=_priority)


def _priority(one: Proved) -> tuple[int, float]:
    return RANK[one.switch["status"]], -max(map(abs, one.magnitudes), default=0.0)


def show_proved(console: Console, rows: list[Proved]) -> None:
    """Print a line for each row that `proved_causes` returned."""
    if not rows:
        return
    show_line(console, "Causes of switches", style="bold")
    for one in rows:
        row = one.switch
        place = ", ".join(word for word in values_of(row, PLACE) if isinstance(word, str))
        where = ", ".join(filter(None, [place, row.get("placement"), listed(one.modes)]))
        size = range_text(row["last_size_bytes"], row["first_size_bytes"])
        time = f", time {change_range(one.magnitudes)}" if one.magnitudes else ""
        value = "" if row["value"] is None else f" = {row['value']}"
        cause = f"{row['cause']}{value}, {row['status']}"
        show_line(console, f"{where}: {size}{time}: {cause}")
    console.print()
