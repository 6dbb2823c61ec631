"""Explains each switch: sweeps bracket it, zooms pin it to the byte, interventions prove its cause.

`explain` joins the three by site, MPI, placement and mode; `zooms` reads what the zooms found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from switchpoint.detection.boundaries import PROMINENT_MAGNITUDE, detect
from switchpoint.explanation.suspects import eager_suspects, governing, suspects_of_run
from switchpoint.explanation.zooms import PLACE, searches, was_eager
from switchpoint.tables.columns import NOTES, identity_columns, none_for_nulls
from switchpoint.tables.measurements import Measurements
from switchpoint.tables.naming import other_curve

#: The curve of a switch, beside what else tells curves apart, such as a label of their own.
CURVE = [*PLACE, "mode"]

#: What is asserted of each switch, after its curve.
EXPLANATION_COLUMNS = [
    "kind", "last_size_bytes", "first_size_bytes", "exact", "magnitude",
    "cause", "value", "status", "reason", "causes", "evidence",
]  # fmt: skip

#: What is asserted of a place where MPI_Send stayed eager, after its curve.
EAGER_COLUMNS = ["up_to_bytes", "cause", "value", "status", "reason", "run_id"]

#: The order in which a cause's status counts.
_RANK = {"confirmed": 0, "suspected": 1, "refuted": 2}


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
    places = _places(steps, found, curve)
    rows = [row for place in places for row in _explain_place(measurements, place)]
    return pd.DataFrame(rows, columns=[*curve, *EXPLANATION_COLUMNS], dtype=object).astype(
        {"exact": bool, "magnitude": float}
    )


def stayed_eager(measurements: Measurements) -> pd.DataFrame:
    """Say where MPI_Send never waited for its receiver, and what would make it wait.

    Parameters
    ----------
    measurements
        Zooms and interventions, beside any other runs.

    Returns
    -------
    DataFrame
        One row per place, mode `send`: `CURVE`; `up_to_bytes`, the largest size that the probe
        tried; `cause`, `value` and `status` of the setting that governs the limit, as in
        `explain` (`confirmed` where it was set and the switch came with it), and `reason`, a
        sentence that says all of it; `run_id`.
    """
    found = _records(searches(measurements))
    probes = [search for search in found if search["method"] == "late_receiver"]
    rows = []
    for search in probes:
        if search["intervention"] or not was_eager(search):
            continue
        moved = [
            other for other in probes
            if other["intervention"] and _key(other, PLACE) == _key(search, PLACE)
        ]  # fmt: skip
        governors = governing(*measurements.facts(search["run_id"]))
        causes = [_limit_given(suspect, moved) for suspect in governors]
        best = min(causes, key=lambda cause: _RANK[cause["status"]], default=None)
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
    """Whether MPI_Send waited past the limit that a setting gave to it."""
    for search in moved:
        if _variable(search) != suspect["name"]:
            continue
        value = int(search["intervention"].partition("=")[2])
        if search["verdict"] == "exact":
            last = int(search["last_size_bytes"])
            follows = last == value + suspect["last_size_offset"]
            says = f"set to {value}, it waits from {last + 1:,} B on"
            status = "confirmed" if follows else "suspected"
            return suspect | {"status": status, "reason": f"{suspect['reason']}; {says}"}
        if was_eager(search):
            says = f"{suspect['name']} set to {value}: it stayed eager all the same"
            return suspect | {"status": "refuted", "reason": says}
    return suspect | {"status": "suspected"}


def curve_columns(table: pd.DataFrame) -> list[str]:
    """Columns of findings or of switches that name the curve, the run aside."""
    others = [
        name for name in identity_columns(table)
        if name not in {*CURVE, *EXPLANATION_COLUMNS, "run_id", "intervention"}
    ]  # fmt: skip
    return [*CURVE, *others]


def near_size(switches: pd.DataFrame, size_bytes: int) -> pd.DataFrame:
    """Select the switches whose first size lies within 10 % of a size, in bytes."""
    near = switches["first_size_bytes"].between(0.9 * size_bytes, 1.1 * size_bytes)
    return switches[near]


def notable(switches: pd.DataFrame) -> pd.Series[bool]:
    """Tell the switches that a reader wants first: proved, with a cause, or large."""
    large = switches["magnitude"].abs() >= PROMINENT_MAGNITUDE
    return (switches["kind"] == "protocol_switch") | switches["cause"].notna() | large


def note(findings: pd.DataFrame, switches: pd.DataFrame) -> pd.DataFrame:
    """Add `notes` to findings: where each is to the byte and why, or else what is suspected.

    Parameters
    ----------
    findings, switches
        As from `detect` and `explain`, of the same measurements.
    """
    pinned = switches[switches["exact"]]
    curve = curve_columns(findings)
    by_curve: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in _records(pinned):
        by_curve.setdefault(_key(row, curve), []).append(row)
    notes = []
    for row in _records(findings):
        inside = [
            f"to the byte: {switch['last_size_bytes']:,} to {switch['first_size_bytes']:,}"
            f" ({switch['kind'].replace('_', ' ')}); {switch['status']}: {switch['reason']}"
            for switch in by_curve.get(_key(row, curve), [])
            if row["last_size_before"] <= switch["last_size_bytes"] < row["size_bytes"]
        ]
        notes.append(inside or _guesses(row))
    return findings.assign(**{NOTES: pd.Series(notes, index=findings.index, dtype=object)})


def _guesses(finding: dict[str, Any]) -> list[str]:
    """What is suspected, else guessed, of a finding, or what its curve is slower than."""
    if other := other_curve(finding["evidence"]):
        return [f"slower than {other}"]
    if finding["suspects"]:
        return [f"suspect: {suspect['reason']}" for suspect in finding["suspects"]]
    if origin := finding["origin"]:
        return [f"perhaps {origin['guess'].replace('_', ' ')}: {'; '.join(origin['evidence'])}"]
    return []


@dataclass
class _Place:
    """All that is known of one mode at one placement, MPI and site."""

    identity: dict[str, Any]
    steps: list[dict[str, Any]]
    searches: list[dict[str, Any]]  # of this mode, without intervention
    moved: list[dict[str, Any]]  # of this mode, with one
    eager_end: int | None = None  # last size sent eagerly, as the probe found it


@dataclass
class _Switch:
    """One switch or step, and what speaks for it."""

    last: int
    first: int
    probed: bool = False
    magnitude: float | None = None
    run_id: str | None = None  # whose settings explain it
    evidence: list[dict[str, Any]] = field(default_factory=list)

    def tell(self, run_id: str, method: str, says: str) -> None:
        self.evidence.append({"run_id": run_id, "method": method, "says": says})


def _places(steps: pd.DataFrame, found: pd.DataFrame, curve: list[str]) -> Iterator[_Place]:
    known = steps.reindex(columns=[*steps.columns, *set(curve).difference(steps.columns)])
    ends = {
        _key(row, PLACE): row["last_size_bytes"]
        for row in _records(found)
        if row["method"] == "late_receiver" and row["verdict"] == "exact"
        and not row["intervention"]
    }  # fmt: skip
    places: dict[tuple[Any, ...], _Place] = {}

    def place_of(row: dict[str, Any]) -> _Place:
        key = _key(row, curve)
        if key not in places:
            identity = dict(zip(curve, key, strict=True))
            places[key] = _Place(identity, [], [], [], ends.get(_key(row, PLACE)))
        return places[key]

    for row in _records(known):
        place_of(row).steps.append(row)
    for row in _records(found):
        place = place_of(row)
        (place.moved if row["intervention"] else place.searches).append(row)
    yield from (places[key] for key in sorted(places, key=lambda key: [str(part) for part in key]))


def _explain_place(measurements: Measurements, place: _Place) -> Iterator[dict[str, Any]]:
    for switch in _switches(place):
        causes = _causes(measurements, place, switch)
        best = min(causes, key=lambda cause: _RANK[cause["status"]], default=None)
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


def _switches(place: _Place) -> list[_Switch]:
    """Every switch of a place, by size: pinned ones, then steps that nothing pinned."""
    pinned: dict[tuple[int, int], _Switch] = {}
    for search in place.searches:
        if search["verdict"] not in {"exact", "interval"}:
            continue
        last, first = int(search["last_size_bytes"]), int(search["first_size_bytes"])
        switch = pinned.setdefault((last, first), _Switch(last, first, run_id=search["run_id"]))
        switch.probed |= search["method"] == "late_receiver"
        if search["jump"] is not None and switch.magnitude is None:
            switch.magnitude = float(search["jump"])
        switch.tell(search["run_id"], search["method"], search["reason"])
    switches = list(pinned.values())
    for step in place.steps:
        last, first = int(step["last_size_before"]), int(step["size_bytes"])
        inside = [switch for switch in pinned.values() if last <= switch.last < first]
        if not inside:
            inside = [_Switch(last, first, run_id=step["run_id"])]
            switches += inside
            _tell_searches_in_vain(place, inside[0])
        for switch in inside:
            if switch.magnitude is None:
                switch.magnitude = float(step["magnitude"])
            switch.tell(
                step["run_id"], "sweep",
                f"time changes by {100 * step['magnitude']:+.0f} % from {last:,} to {first:,} B,"
                f" confidence {100 * step['confidence']:.0f} %",
            )  # fmt: skip
    return sorted(switches, key=lambda switch: (switch.last, switch.first))


def _tell_searches_in_vain(place: _Place, switch: _Switch) -> None:
    for search in place.searches:
        if (search["low_bytes"], search["high_bytes"]) == (switch.last, switch.first):
            switch.tell(search["run_id"], search["method"], search["reason"])


def _causes(measurements: Measurements, place: _Place, switch: _Switch) -> list[dict[str, Any]]:
    """Every setting that predicts the switch, governs it, or was moved; with its status."""
    header, footer = measurements.facts(switch.run_id or "")
    suspects = suspects_of_run(header, footer)(switch.last, switch.first)
    if switch.probed:
        suspects = eager_suspects(header, footer, switch.last)
    elif place.eager_end is not None and switch.last <= place.eager_end < switch.first:
        named = {suspect["name"] for suspect in suspects}
        suspects += [
            suspect for suspect in eager_suspects(header, footer, place.eager_end)
            if suspect["name"] not in named
        ]  # fmt: skip
    causes = []
    for suspect in suspects:
        status, reason = _try_interventions(place, switch, suspect)
        causes.append(suspect | {"status": status, "reason": reason})
    named = {cause["name"] for cause in causes}
    for variable in dict.fromkeys(_variable(search) for search in place.moved):
        if variable not in named:
            status, reason = _try_interventions(place, switch, {"name": variable, "reason": ""})
            if status == "refuted":
                causes.append(
                    {
                        "name": variable, "value": None, "status": status, "reason": reason,
                        "source": "intervention", "ends_eager": False,
                    }
                )  # fmt: skip
    return causes


def _try_interventions(place: _Place, switch: _Switch, suspect: dict[str, Any]) -> tuple[str, str]:
    """Status of one suspect and why: whether the switch followed when the setting was moved."""
    reason = suspect["reason"]
    for run_id, moved in _by_run(place.moved, suspect["name"]):
        value = int(moved[0]["intervention"].partition("=")[2])
        offset = suspect.get("last_size_offset")
        predicted = None if offset is None else value + offset
        at = {
            int(search["last_size_bytes"])
            for search in moved
            if search["verdict"] == "exact" and _comparable(search, switch)
        }
        gone = any(
            search["verdict"] == "none" and search["method"] == "bisection"
            and search["low_bytes"] <= switch.last < search["high_bytes"]
            for search in moved
        )  # fmt: skip
        to = f"moved to {value}"
        if switch.last in at:
            says = f"{suspect['name']} {to}: the switch stayed at {switch.first} bytes"
            switch.tell(run_id, "intervention", says)
            return "refuted", says
        if predicted in at and (switch.probed or gone):
            says = f"{to}, the switch followed to {predicted + 1} bytes"
            switch.tell(run_id, "intervention", f"{suspect['name']} {says}")
            return "confirmed", f"{suspect.get('reason_moved', reason)}; {says}"
        if switch.probed and at:
            says = f"{to}, the switch went to {min(at) + 1} bytes"
            if predicted is not None:
                says += f", not to {predicted + 1}"
            switch.tell(run_id, "intervention", f"{suspect['name']} {says}")
            reason = f"{reason}; {says}"
        elif gone:
            says = f"{to}, the step is gone"
            switch.tell(run_id, "intervention", f"{suspect['name']} {says}")
            reason = f"{reason}; {says}"
    return "suspected", reason


def _comparable(search: dict[str, Any], switch: _Switch) -> bool:
    """Whether a search of an intervention could have found the switch that the zoom found."""
    return not switch.probed or search["method"] == "late_receiver"


def _by_run(
    moved: Iterable[dict[str, Any]], variable: str
) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    runs: dict[str, list[dict[str, Any]]] = {}
    for search in moved:
        if _variable(search) == variable:
            runs.setdefault(search["run_id"], []).append(search)
    yield from runs.items()


def _variable(search: dict[str, Any]) -> str:
    return str(search["intervention"]).partition("=")[0]


def _key(row: dict[str, Any], names: list[str]) -> tuple[Any, ...]:
    """Identity of a row, with every null alike."""
    return tuple(row[name] if isinstance(row.get(name), str) else None for name in names)


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    return none_for_nulls(table).to_dict("records")  # type: ignore[return-value]
