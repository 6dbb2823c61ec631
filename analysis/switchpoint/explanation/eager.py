"""Finds where MPI_Send stayed eager, and which setting would make it wait."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypedDict

import pandas as pd

from switchpoint.explanation.places import CURVE
from switchpoint.explanation.suspects import governing
from switchpoint.explanation.trials import Configurations, changes
from switchpoint.explanation.verdicts import GOVERNED, RANK, REFUTED, SUSPECTED
from switchpoint.explanation.zooms import PLACE, SearchRow, searches, sides_of
from switchpoint.tables.columns import records, values_of
from switchpoint.tables.findings import SettingValue, Suspect
from switchpoint.tables.identity import CurveIdentity
from switchpoint.tables.measurements import Measurements


class Eager(TypedDict):
    """Up to which size MPI_Send stayed eager in a run, and why; see `stayed_eager`."""

    up_to_bytes: int
    cause: str | None
    value: SettingValue
    status: str
    reason: str


class StayedEager(Eager, CurveIdentity):
    """The same with the curve that it is of."""


#: Columns that describe where MPI_Send stayed eager, after those of its curve without the run.
EAGER_COLUMNS = [*Eager.__annotations__, "run_id"]


def stayed_eager(measurements: Measurements) -> pd.DataFrame:
    """List where MPI_Send never waited for its receiver, and what would make it wait.

    Parameters
    ----------
    measurements
        Zooms, with changed settings or without, and any other runs.

    Returns
    -------
    DataFrame
        One row per placement, mode `send`: `CURVE`; `up_to_bytes`, the largest size that the
        probe tried; `cause`, `value` and `status` of the setting that governs the limit
        (`governed` if MPI_Send waited when the setting got a value), and `reason`, a sentence with
        all of this; `run_id`.
    """
    runs = Configurations(measurements)
    found = records(searches(measurements), SearchRow)
    probes = [search for search in found if search["method"] == "late_receiver"]
    rows = []
    for search in probes:
        if search["intervention"] or not search["stayed_eager"]:
            continue
        others = [other for other in probes if values_of(other, PLACE) == values_of(search, PLACE)]
        governors = governing(*measurements.facts(search["run_id"]))
        causes = [_limit_given(runs, search, suspect, others) for suspect in governors]
        best = min(causes, key=lambda cause: RANK[cause.status], default=None)
        says = [f"MPI_Send stayed eager up to {search['high_bytes']:,} B"]
        if best is not None:
            says.append(best.reason)
        rows.append(
            dict(zip(CURVE, values_of(search, CURVE), strict=True))
            | {
                "up_to_bytes": search["high_bytes"],
                "cause": None if best is None else best.setting,
                "value": None if best is None else best.value,
                "status": "unknown" if best is None else best.status,
                "reason": "; ".join(says),
                "run_id": search["run_id"],
            }
        )
    return pd.DataFrame(rows, columns=[*CURVE, *EAGER_COLUMNS], dtype=object)


@dataclass(frozen=True)
class _Limit:
    """A setting that may govern the limit, with its value in the run, and the verdict on it."""

    setting: str
    value: SettingValue
    status: str
    reason: str


def _limit_given(
    runs: Configurations,
    base: SearchRow,
    suspect: Suspect,
    others: list[SearchRow],
) -> _Limit:
    """Return whether MPI_Send waited above the limit that a setting gave to it."""
    name = suspect["name"]
    for search, value in _given(runs, base, name, others):
        if search["verdict"] == "exact":
            says = f"set to {value}, it waits from {sides_of(search)[1]:,} B on"
            return _Limit(name, suspect["value"], GOVERNED, f"{suspect['reason']}; {says}")
        if search["stayed_eager"]:
            says = f"{name} set to {value}: it still stayed eager"
            return _Limit(name, suspect["value"], REFUTED, says)
    return _Limit(name, suspect["value"], SUSPECTED, suspect["reason"])


def _given(
    runs: Configurations, base: SearchRow, name: str, others: list[SearchRow]
) -> Iterator[tuple[SearchRow, Any]]:
    """Yield the probes of runs in which only this setting differs, with its value."""
    for search in others:
        changed = changes(runs.of(base["run_id"]), runs.of(search["run_id"]))
        if set(changed) == {name} and (after := changed[name].after) is not None:
            yield search, after.value
