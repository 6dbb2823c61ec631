"""Judges suspects by interventions: whether the switch followed when a setting was moved."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from switchpoint.explanation.places import Place, Switch
from switchpoint.explanation.suspects import eager_suspects, suspects_of_run
from switchpoint.tables.measurements import Measurements

#: The priority of a cause's status.
RANK = {"confirmed": 0, "suspected": 1, "refuted": 2}


def causes_of(measurements: Measurements, place: Place, switch: Switch) -> list[dict[str, Any]]:
    """Return every setting that predicts the switch, governs it, or was changed, with status."""
    header, footer = measurements.facts(switch.run_id or "")
    suspects = suspects_of_run(header, footer)(switch.last, switch.first)
    if switch.probed:
        eager = eager_suspects(header, footer, switch.last)
        named = {suspect["name"] for suspect in eager}
        # If all of these are refuted, something else also switches at this size.
        suspects = [*eager, *(one for one in suspects if one["name"] not in named)]
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
    for variable in dict.fromkeys(variable_of(search) for search in place.moved):
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


def _try_interventions(place: Place, switch: Switch, suspect: dict[str, Any]) -> tuple[str, str]:
    """Return the status of one suspect, depending on where the switch was after the change."""
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
        to = f"set to {value}"
        if switch.last in at:
            says = f"{suspect['name']} {to}: the switch stayed at {switch.first:,} B"
            switch.tell(run_id, "intervention", says)
            return "refuted", says
        if predicted in at and (switch.probed or gone):
            says = f"{to}, the switch moved to {predicted + 1:,} B"
            switch.tell(run_id, "intervention", f"{suspect['name']} {says}")
            return "confirmed", f"{suspect.get('reason_moved', reason)}; {says}"
        if switch.probed and at:
            says = f"{to}, the switch moved to {min(at) + 1:,} B"
            if predicted is not None:
                says += f", not to {predicted + 1:,} B"
            switch.tell(run_id, "intervention", f"{suspect['name']} {says}")
            reason = f"{reason}; {says}"
        elif gone:
            says = f"{to}, the step is gone"
            switch.tell(run_id, "intervention", f"{suspect['name']} {says}")
            reason = f"{reason}; {says}"
    return "suspected", reason


def _comparable(search: dict[str, Any], switch: Switch) -> bool:
    """Return whether an intervention's search could have found the zoom's switch."""
    return not switch.probed or search["method"] == "late_receiver"


def _by_run(
    moved: Iterable[dict[str, Any]], variable: str
) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    runs: dict[str, list[dict[str, Any]]] = {}
    for search in moved:
        if variable_of(search) == variable:
            runs.setdefault(search["run_id"], []).append(search)
    yield from runs.items()


def variable_of(search: dict[str, Any]) -> str:
    """Name of the setting that an intervention moved."""
    return str(search["intervention"]).partition("=")[0]
