"""Explains each switch: sweeps bracket it, zooms pin it to the byte, interventions prove its cause.

`explain` joins the three by site, MPI, placement and mode; `zooms` reads what the zooms found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pandas as pd

from switchpoint.explanation.causes import PROMINENT_MAGNITUDE, detect
from switchpoint.explanation.interventions import RANK, causes_of
from switchpoint.explanation.places import (
    EXPLANATION_COLUMNS,
    Place,
    curve_columns,
    places_of,
    switches_of,
)
from switchpoint.explanation.zooms import searches
from switchpoint.tables.measurements import Measurements


def explain(
    measurements: Measurements,
    findings: pd.DataFrame | None = None,
    progress: Callable[[], object] = lambda: None,
) -> pd.DataFrame:
    """Say of each switch where it is, what it is, and why.

    Parameters
    ----------
    measurements
        Sweeps, zooms and interventions of any number of places; each part may be missing.
    findings
        As from `detect`, which is run when they are not given.
    progress
        Called after each curve that `detect` has done.

    Returns
    -------
    DataFrame
        One row per step or switch, by place, mode and size:

        kind
            `protocol_switch`: proved, by the late-receiver probe or because the step followed a
            setting that was moved. `step`: what timing shows.
        last_size_bytes, first_size_bytes, exact
            The last size before and the first past it; neighbours where `exact`, else what
            brackets the switch.
        magnitude
            Relative change of time, of the bisection where there is one, else of the sweep.
        cause, value, status, reason
            The likeliest setting, its value, `confirmed`, `suspected` or `refuted` (or `unknown`,
            without a cause), and one sentence. Confirmed is only what an intervention proved.
        causes
            List of dictionaries, every setting that was considered: `name`, `value`, `status`,
            `reason`, `source`.
        evidence
            List of dictionaries: `run_id`, `method` (`sweep`, `late_receiver`, `bisection`,
            `intervention`), `says`.
    """
    steps = detect(measurements, progress) if findings is None else findings
    steps = steps[steps["kind"] == "step"]
    found = searches(measurements)
    curve = curve_columns(steps)
    places = places_of(steps, found, curve)
    rows = [row for place in places for row in _explain_place(measurements, place)]
    return pd.DataFrame(rows, columns=[*curve, *EXPLANATION_COLUMNS], dtype=object).astype(
        {"exact": bool, "magnitude": float}
    )


def near_size(switches: pd.DataFrame, size_bytes: int) -> pd.DataFrame:
    """Select the switches whose first size lies within 10 % of a size, in bytes."""
    near = switches["first_size_bytes"].between(0.9 * size_bytes, 1.1 * size_bytes)
    return switches[near]


def notable(switches: pd.DataFrame) -> pd.Series[bool]:
    """Tell the switches that a reader wants first: proved, with a cause, or large."""
    large = switches["magnitude"].abs() >= PROMINENT_MAGNITUDE
    return (switches["kind"] == "protocol_switch") | switches["cause"].notna() | large


def _explain_place(measurements: Measurements, place: Place) -> Iterator[dict[str, Any]]:
    for switch in switches_of(place):
        causes = causes_of(measurements, place, switch)
        best = min(causes, key=lambda cause: RANK[cause["status"]], default=None)
        proved = best is not None and best["status"] == "confirmed" and best["ends_eager"]
        known = best is not None and best["status"] != "refuted"
        yield place.identity | {
            "kind": "protocol_switch" if switch.probed or proved else "step",
            "last_size_bytes": switch.last,
            "first_size_bytes": switch.first,
            "exact": switch.first - switch.last == 1,
            "magnitude": switch.magnitude,
            "cause": best["name"] if best is not None and known else None,
            "value": best["value"] if best is not None and known else None,
            "status": best["status"] if best is not None else "unknown",
            "reason": best["reason"] if best is not None else "no known setting predicts it",
            "causes": [
                {name: cause[name] for name in ("name", "value", "status", "reason", "source")}
                for cause in causes
            ],
            "evidence": switch.evidence,
        }
