"""Prints the causes that are confirmed, one line each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
from rich.console import Console

from switchpoint.reporting.digest import PLACE
from switchpoint.reporting.terminal.tables import safe_text
from switchpoint.reporting.terminal.words import change_range, listed
from switchpoint.tables.units import range_text


def confirmed_causes(switches: pd.DataFrame | None) -> list[dict[Any, Any]]:
    """Switches whose cause is proved, those of one place, bracket and cause together."""
    if switches is None or switches.empty:
        return []
    known = switches[switches["status"] == "confirmed"]
    by = [*(name for name in PLACE if name in known), "placement", "last_size_bytes", "cause"]
    rows = []
    for _, group in known.groupby(by, dropna=False, sort=False):
        row = group.iloc[0].to_dict()
        row["modes"] = sorted({mode for mode in group["mode"] if isinstance(mode, str)})
        row["magnitudes"] = group["magnitude"].dropna().tolist()
        rows.append(row)
    return sorted(rows, key=lambda row: -max(map(abs, row["magnitudes"]), default=0.0))


def show_confirmed(console: Console, rows: list[dict[Any, Any]]) -> None:
    """Print a line for each row that `confirmed_causes` returned."""
    if not rows:
        return
    console.print(safe_text("Confirmed causes", style="bold"))
    for row in rows:
        place = _place_words({name: row.get(name) for name in PLACE})
        where = ", ".join(word for word in (place, row["placement"], listed(row["modes"])) if word)
        size = range_text(row["last_size_bytes"], row["first_size_bytes"])
        time = f", time {change_range(row['magnitudes'])}" if row["magnitudes"] else ""
        value = "" if row["value"] is None else f" = {row['value']}"
        console.print(safe_text(f"{where}: {size}{time}: {row['cause']}{value}"), soft_wrap=True)
    console.print()


def _place_words(place: Mapping[str, str | None]) -> str:
    """Name a place: the MPI library or, where it is not known, the environment."""
    return ", ".join(word for word in place.values() if isinstance(word, str))
