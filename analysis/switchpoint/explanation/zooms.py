"""Tabulates what the kernel `zoom` found, and chooses brackets and the setting to change.

A zoom is a run with searches in its footer (docs/reference/run-record.md). An intervention is a
zoom with one changed setting, which its label `intervention` names as NAME=VALUE.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd

from switchpoint.explanation.suspects import eager_suspects, governing, suspects_of_run
from switchpoint.tables.findings import may_jump, relative_jump
from switchpoint.tables.measurements import Measurements
from switchpoint.tables.sweeps import ZOOM

#: Columns that a zoom shares with the sweep of the same curve, without the mode.
PLACE = ["site", "partition", "mpi", "environ", "kernel", "placement"]

#: The kernel whose modes a zoom times.
TIMED_KERNEL = "pingpong"

#: One row per search: its curve, its intervention (or null), and the record's fields.
SEARCH_COLUMNS = [
    *PLACE, "mode", "run_id", "intervention", "method", "low_bytes", "high_bytes", "verdict",
    "last_size_bytes", "first_size_bytes", "jump", "visits", "time_us", "involuntary_switches",
    "reason",
]  # fmt: skip

#: The label of an intervention.
_CHANGED = re.compile(r"[A-Za-z_]\w*=\d{1,15}", re.ASCII)

#: Bytes on either side of a predicted or known switch that a search includes.
BESIDE_BYTES = 8

#: The number of steps of one mode that are searched: those with suspects first, then the largest.
_MOST_BRACKETS = 12

#: An intervention moves a switch up by this factor. The new size is neither a power of two nor a
#: multiple of a page, so nothing else switches there.
_MOVE_BY = 1.5
_AND_BYTES = 37
#: Or down by this factor, if the setting cannot go up, or another setting would act before it.
_MOVE_DOWN_BY = 0.6

#: If MPI_Send always stayed eager, it gets a limit at this part of the probed range, on a scale of
#: powers of two.
_LIMIT_AT = 0.8


def searches(measurements: Measurements) -> pd.DataFrame:
    """Tabulate every search of every zoom.

    Parameters
    ----------
    measurements
        Measurements of any kernels.

    Returns
    -------
    DataFrame
        `SEARCH_COLUMNS`; sizes in bytes, `jump` relative, `time_us` in microseconds.
    """
    rows: list[dict[str, Any]] = []
    runs = measurements.runs
    for run in runs[runs["kernel"] == ZOOM].to_dict("records"):
        header, footer = measurements.facts(run["run_id"])
        known = {name: run[name] for name in [*PLACE, "run_id"]} | {"kernel": TIMED_KERNEL}
        known["intervention"] = header.get("labels", {}).get("intervention")
        if known["intervention"] and not _CHANGED.fullmatch(known["intervention"]):
            continue  # nobody knows what was changed
        rows += [known | search for search in (footer or {}).get("switches", [])]
    return pd.DataFrame(rows, columns=SEARCH_COLUMNS)


def brackets_to_search(findings: pd.DataFrame, modes: list[str]) -> list[tuple[str, int, int]]:
    """Choose the brackets of a zoom: a sweep's jumps, and close brackets for their suspects.

    A change of slope counts if the time may jump there.

    Parameters
    ----------
    findings
        As from `detect`, of one placement and MPI.
    modes
        Modes that the zoom times.

    Returns
    -------
    list of (mode, last size before, first size past), sizes in bytes
        Each once, by mode.
    """
    chosen: dict[tuple[str, int, int], None] = {}
    for mode, of_mode in _jumps(findings, modes).items():
        for step in of_mode[:_MOST_BRACKETS]:
            chosen[mode, step["last_size_before"], step["size_bytes"]] = None
            for suspect in step["suspects"]:
                chosen[beside(mode, suspect["last_size"], suspect["first_size"])] = None
    return list(chosen)


def brackets_left_out(findings: pd.DataFrame, modes: list[str]) -> list[str]:
    """Say of each mode how many jumps `brackets_to_search` leaves out, in one sentence each."""
    return [
        f"{mode}: of {len(of_mode)} steps only {_MOST_BRACKETS} are searched, those with suspects"
        " and the largest; for the others, give their sizes to zoom as --brackets"
        for mode, of_mode in _jumps(findings, modes).items()
        if len(of_mode) > _MOST_BRACKETS
    ]


def _jumps(findings: pd.DataFrame, modes: list[str]) -> dict[str, list[dict[Any, Any]]]:
    """Return the findings of each mode at which the time may jump, the most important first.

    A step with a suspect is searched however small it is: only a search can tell its cause.
    """
    jumps = [row for row in findings.to_dict("records") if may_jump(row)]
    jumps.sort(key=lambda row: (bool(row["suspects"]), abs(relative_jump(row))), reverse=True)
    return {mode: [row for row in jumps if row["mode"] == mode] for mode in modes}


def beside(mode: str, last: int, first: int) -> tuple[str, int, int]:
    """Return the bracket around a switch between two known sizes, in bytes."""
    return mode, max(last - BESIDE_BYTES, 0), first + BESIDE_BYTES


@dataclass
class Intervention:
    """A setting to change, and where the switch should then be.

    Attributes
    ----------
    variable, environment : str
        The setting, and the environment variable that sets it.
    value : int
        The new value.
    last_size_bytes : int
        Last size before the switch, if the setting is its cause.
    """

    variable: str
    environment: str
    value: int
    last_size_bytes: int

    @property
    def label(self) -> str:
        """The run's label for it."""
        return f"{self.variable}={self.value}"


def plan_intervention(
    header: dict[str, Any],
    footer: dict[str, Any] | None,
    variable: str | None = None,
    value: int | None = None,
    leave_out: Collection[str] = (),
) -> Intervention | None:
    """Choose the setting to change in order to prove the cause of a zoom's switch.

    Parameters
    ----------
    header, footer
        Of a zoom without intervention.
    variable, value
        The setting to change, and its new value in bytes. By default the first suspect of the
        switch that the probe found. A named setting may be suspected to cause any exact step. If
        MPI_Send stayed eager, a setting that leaves the limit to the library: it gets a limit.
    leave_out
        Settings that must not be chosen, such as those that were changed without effect.

    Returns
    -------
    Intervention or None
        None if no setting, or not this one, is suspected to cause anything that was found.
    """
    for last, suspect in _movable(header, footer):
        if variable != suspect["name"] and (variable is not None or not suspect["ends_eager"]):
            continue
        if suspect["name"] in leave_out:
            continue
        offset = suspect["last_size_offset"]
        chosen = value
        if chosen is None:
            target = _target(header, footer, suspect, last)
            chosen = target - offset
            chosen -= chosen % suspect["multiple_of"]
        return Intervention(suspect["name"], suspect["environment"], chosen, chosen + offset)
    return None


def _target(
    header: dict[str, Any], footer: dict[str, Any] | None, suspect: dict[str, Any], last: int | None
) -> int:
    """Return the last size before the switch, in bytes, after the change of the setting."""
    if last is None:
        low, high = probe_range(footer)
        return math.floor(low * math.pow(high / low, _LIMIT_AT)) + _AND_BYTES
    up = math.floor(_MOVE_BY * last) + _AND_BYTES
    most = suspect["most_bytes"]
    between = suspects_of_run(header, footer)(last + 1, up + 1)
    stopped = any(other["ends_eager"] and other["name"] != suspect["name"] for other in between)
    too_much = most is not None and up - suspect["last_size_offset"] > most
    if suspect["only_down"] or stopped or too_much:
        return math.floor(_MOVE_DOWN_BY * last) + _AND_BYTES
    return up


def movable_settings(header: dict[str, Any], footer: dict[str, Any] | None) -> list[str]:
    """Return the settings that `plan_intervention` can change, the likeliest first."""
    return list(dict.fromkeys(suspect["name"] for _, suspect in _movable(header, footer)))


def _movable(
    header: dict[str, Any], footer: dict[str, Any] | None
) -> Iterator[tuple[int | None, dict[str, Any]]]:
    """Yield each suspect of an exact step with the step's last size; the probe's first.

    A setting that can give a limit to a protocol without one comes without a last size.
    """
    if found := probed(footer):
        for suspect in eager_suspects(header, footer, found["last_size_bytes"]):
            yield found["last_size_bytes"], suspect
    elif stayed_eager(footer) is not None:
        for suspect in governing(header, footer):
            yield None, suspect
    suspects = suspects_of_run(header, footer)
    for search in bisected(footer):
        last, first = search["last_size_bytes"], search["first_size_bytes"]
        for suspect in suspects(last, first):
            if suspect["environment"] is not None and not suspect["ends_eager"]:
                yield last, suspect


def bisected(footer: dict[str, Any] | None) -> list[dict[str, Any]]:
    """Return the searches of a zoom that located a step to the byte by timing."""
    return [
        search for search in (footer or {}).get("switches", [])
        if search["method"] == "bisection" and search["verdict"] == "exact"
    ]  # fmt: skip


def probed(footer: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return the late-receiver probe's search in a zoom's footer, if it ended exactly."""
    for search in _probes(footer):
        if search["verdict"] == "exact":
            return dict(search)
    return None


def stayed_eager(footer: dict[str, Any] | None) -> int | None:
    """Return the largest size in bytes that the probe tried, if MPI_Send was always eager."""
    for search in _probes(footer):
        if was_eager(search):
            return int(search["high_bytes"])
    return None


def was_eager(search: dict[str, Any]) -> bool:
    """Return whether a search of the probe found no end of the eager protocol.

    It also finds none if MPI_Send waits at the smallest size. The reason of the search differs.
    """
    return search["verdict"] == "none" and "MPI_Send returns before" in search["reason"]


def probe_range(footer: dict[str, Any] | None) -> tuple[int, int]:
    """Return the smallest and largest size in bytes that the probe tried."""
    for search in _probes(footer):
        return max(1, int(search["low_bytes"])), int(search["high_bytes"])
    raise ValueError("a zoom without the late-receiver probe")


def _probes(footer: dict[str, Any] | None) -> Iterator[dict[str, Any]]:
    for search in (footer or {}).get("switches", []):
        if search["method"] == "late_receiver":
            yield search
