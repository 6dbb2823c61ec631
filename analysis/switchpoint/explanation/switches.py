"""Explains each switch. Sweeps bracket it, zooms locate it, interventions prove its cause.

`explain` joins the three by site, MPI, placement and mode. `zooms` reads the results of zooms.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import pandas as pd

from switchpoint.explanation.algorithm_changes import algorithm_change
from switchpoint.explanation.attribution import best_of, causes_of
from switchpoint.explanation.causes import PROMINENT_MAGNITUDE, detect
from switchpoint.explanation.origins import origins_of_run, words_of
from switchpoint.explanation.places import (
    EXPLANATION_COLUMNS,
    Cause,
    ConsideredCause,
    Explained,
    Place,
    Switch,
    curve_columns,
    places_of,
    switches_of,
)
from switchpoint.explanation.trials import Configurations
from switchpoint.explanation.verdicts import CONFIRMED, RANK
from switchpoint.explanation.zooms import TIMED_KERNEL, searches
from switchpoint.tables.columns import records, values_of
from switchpoint.tables.findings import Finding, Origin, may_jump
from switchpoint.tables.measurements import Measurements


def explain(
    measurements: Measurements,
    findings: pd.DataFrame | None = None,
    progress: Callable[[], object] = lambda: None,
) -> pd.DataFrame:
    """Locate each switch, and name its kind and its cause.

    Parameters
    ----------
    measurements
        Sweeps, zooms and interventions at any number of placements; each part may be missing.
    findings
        As from `detect`, which is called if they are not given.
    progress
        Called after each curve that `detect` has done.

    Returns
    -------
    DataFrame
        One row per step or switch, by placement, mode and size:

        kind
            `protocol_switch`: proved by the late-receiver probe, or because the step followed a
            setting that was changed. `step`: what timing shows.
        last_size_bytes, first_size_bytes, exact
            The last size before the switch and the first size after it. If `exact`, a zoom found
            them to be one byte apart; otherwise they bracket the switch.
        magnitude
            Relative change of time, from the bisection if there is one, otherwise from the sweep.
        cause, value, status, reason
            The most likely setting and its value (null without a cause); `confirmed`, `governed`,
            `suspected`, `refuted`, `none` or `unknown`; and one sentence. Only an intervention can
            confirm a cause.
        origin
            As from `detect`: a guess at the origin of the step in the sweep, if it also holds
            between exactly these two sizes; null for a `protocol_switch`.
        causes
            List of dictionaries, every setting that was considered: `name`, `environment` (the
            variable that sets it), `set_by`, `value`, `status`, `law` (of a setting that is
            confirmed alone: the value is rounded to multiples of `grain_bytes`, up if they are
            negative, then taken `factor` times, and `offset_bytes` lead to the last size),
            `reason`, `source`, `ends_eager`.
        evidence
            List of dictionaries: `run_id`, `method` (`sweep`, `late_receiver`, `bisection`,
            `intervention`), `says`.
        launches, of_launches
            How many launches of the curve show it in a sweep, and how many have sizes there; null
            if only a zoom shows it.
    """
    steps = detect(measurements, progress) if findings is None else findings
    steps = steps.loc[[may_jump(row) for row in records(steps, Finding)]]
    zooms = searches(measurements)
    curve = curve_columns(steps)
    places = [*places_of(steps, zooms, curve)]
    runs = Configurations(measurements)
    found: dict[int, list[Explained]] = {}
    messages: dict[tuple[Any, ...], list[Explained]] = defaultdict(list)
    # Ping-pong first: a collective's messages may have its switches.
    order = sorted(enumerate(places), key=lambda each: each[1].identity["kernel"] != TIMED_KERNEL)
    for number, place in order:
        there = messages[values_of(place.identity, ["site", "mpi", "placement"])]
        found[number] = [*_explain_place(measurements, runs, place, there)]
        if place.identity["kernel"] == TIMED_KERNEL:
            there += [row for row in found[number] if row["exact"]]
    rows = [row for number in range(len(places)) for row in found[number]]
    return pd.DataFrame(rows, columns=[*curve, *EXPLANATION_COLUMNS], dtype=object).astype(
        {"exact": bool, "magnitude": float}
    )


def near_size(switches: pd.DataFrame, size_bytes: int) -> pd.DataFrame:
    """Select the switches whose first size lies within 10 % of a size, in bytes."""
    near = switches["first_size_bytes"].between(0.9 * size_bytes, 1.1 * size_bytes)
    return switches[near]


def notable(switches: pd.DataFrame) -> pd.Series[bool]:
    """Return which switches are shown first: proved, with a cause, or large."""
    large = switches["magnitude"].abs() >= PROMINENT_MAGNITUDE
    return (switches["kind"] == "protocol_switch") | switches["cause"].notna() | large


def _explain_place(
    measurements: Measurements, runs: Configurations, place: Place, messages: list[Explained]
) -> Iterator[Explained]:
    for switch in switches_of(place):
        causes, none = causes_of(measurements, runs, place, switch)
        if change := algorithm_change(measurements, place, switch, messages):
            causes = sorted([change, *causes], key=lambda cause: RANK[cause["status"]])
            none = None
        best = best_of(causes)
        origin = _origin(measurements, switch)
        launches, of_launches = switch.launches
        proved = best is not None and best["status"] == CONFIRMED and best["ends_eager"]
        yield {
            **place.identity,
            "kind": "protocol_switch" if switch.probed or proved else "step",
            "last_size_bytes": switch.last,
            "first_size_bytes": switch.first,
            "exact": switch.exact,
            "magnitude": switch.magnitude,
            "cause": None if best is None else name_of(best),
            "value": None if best is None else best["value"],
            "status": _status(best, causes, none),
            "reason": _reason(best, causes, none, None if best else origin),
            "origin": None if switch.probed or proved else origin,
            "causes": [_cause(cause) for cause in causes],
            "evidence": switch.evidence,
            "launches": launches,
            "of_launches": of_launches,
        }


def _cause(cause: ConsideredCause) -> Cause:
    return {
        "name": cause["name"],
        "environment": cause["environment"],
        "set_by": cause["set_by"],
        "value": cause["value"],
        "status": cause["status"],
        "law": cause["law"],
        "reason": cause["reason"],
        "source": cause["source"],
        "ends_eager": cause["ends_eager"],
    }


def name_of(cause: ConsideredCause) -> str:
    """Return the name of a cause: a setting, or two that act together."""
    return f"{cause['name']} with {cause['partner']}" if cause["partner"] else cause["name"]


def _status(
    best: ConsideredCause | None, causes: list[ConsideredCause], none: tuple[str, str] | None
) -> str:
    if best is not None:
        return best["status"]
    if none is not None:
        return none[0]
    return causes[0]["status"] if causes else "unknown"


def _reason(
    best: ConsideredCause | None,
    causes: list[ConsideredCause],
    none: tuple[str, str] | None,
    origin: Origin | None,
) -> str:
    """Return the sentence on the cause; without one, what the origin may be instead."""
    if best is not None:
        said = best["reason"]
    else:
        refuted = causes[0]["reason"] if causes else "no known setting predicts it"
        said = none[1] if none else refuted
    return said if origin is None else f"{said}; perhaps {words_of(origin)}"


def _origin(measurements: Measurements, switch: Switch) -> Origin | None:
    """Return the guessed origin of a switch's step, if it holds where the switch is."""
    for step in switch.steps:
        if not (origin := step["origin"]):
            continue
        if (step["last_size_before"], step["size_bytes"]) == (switch.last, switch.first):
            return origin
        there = step | {"last_size_before": switch.last, "size_bytes": switch.first}
        if origin := origins_of_run(*measurements.facts(step["run_id"]))(there):
            return origin
    return None
