"""Finds where MPI_Send stayed eager, and which setting would make it wait."""

from __future__ import annotations

from typing import Any

import pandas as pd

from switchpoint.explanation.interventions import RANK, variable_of
from switchpoint.explanation.places import CURVE, records
from switchpoint.explanation.suspects import governing
from switchpoint.explanation.zooms import PLACE, searches, was_eager
from switchpoint.tables.columns import values_of
from switchpoint.tables.measurements import Measurements

#: Columns that describe where MPI_Send stayed eager, after those of its curve.
EAGER_COLUMNS = ["up_to_bytes", "cause", "value", "status", "reason", "run_id"]


def stayed_eager(measurements: Measurements) -> pd.DataFrame:
    """List where MPI_Send never waited for its receiver, and what would make it wait.

    Parameters
    ----------
    measurements
        Zooms and interventions, and any other runs.

    Returns
    -------
    DataFrame
        One row per placement, mode `send`: `CURVE`; `up_to_bytes`, the largest size that the
        probe tried; `cause`, `value` and `status` of the setting that governs the limit, as in
        `explain` (`confirmed` if it was set and the switch appeared), and `reason`, a sentence
        with all of this; `run_id`.
    """
    found = records(searches(measurements))
    probes = [search for search in found if search["method"] == "late_receiver"]
    rows = []
    for search in probes:
        if search["intervention"] or not was_eager(search):
            continue
        moved = [
            other for other in probes
            if other["intervention"] and values_of(other, PLACE) == values_of(search, PLACE)
        ]  # fmt: skip
        governors = governing(*measurements.facts(search["run_id"]))
        causes = [_limit_given(suspect, moved) for suspect in governors]
        best = min(causes, key=lambda cause: RANK[cause["status"]], default=None)
        says = [f"MPI_Send stayed eager up to {search['high_bytes']:,} B"]
        if best is not None:
            says.append(best["reason"])
        rows.append(
            {name: search[name] for name in CURVE}
            | {
                "up_to_bytes": search["high_bytes"],
                "cause": None if best is None else best["name"],
                "value": None if best is None else best["value"],
                "status": "unknown" if best is None else best["status"],
                "reason": "; ".join(says),
                "run_id": search["run_id"],
            }
        )
    return pd.DataFrame(rows, columns=[*CURVE, *EAGER_COLUMNS], dtype=object)


def _limit_given(suspect: dict[str, Any], moved: list[dict[str, Any]]) -> dict[str, Any]:
    """Return whether MPI_Send waited above the limit that a setting gave to it."""
    for search in moved:
        if variable_of(search) != suspect["name"]:
            continue
        value = int(search["intervention"].partition("=")[2])
        if search["verdict"] == "exact":
            last = int(search["last_size_bytes"])
            follows = last == value + suspect["last_size_offset"]
            says = f"set to {value}, it waits from {last + 1:,} B on"
            status = "confirmed" if follows else "suspected"
            return suspect | {"status": status, "reason": f"{suspect['reason']}; {says}"}
        if was_eager(search):
            says = f"{suspect['name']} set to {value}: it still stayed eager"
            return suspect | {"status": "refuted", "reason": says}
    return suspect | {"status": "suspected"}
