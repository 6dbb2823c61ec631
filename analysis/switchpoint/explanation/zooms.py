"""Tabulates what searches for switches found, and chooses the brackets of a zoom.

A zoom is a run with searches in its footer, of the kernel `zoom` or another
(docs/reference/run-record.md). A zoom with the label `intervention` had changed settings, and only
serves to explain other zooms.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from typing import TYPE_CHECKING

import pandas as pd

from switchpoint.tables.columns import Run, records
from switchpoint.tables.findings import Finding, may_jump, relative_jump
from switchpoint.tables.identity import CurveIdentity
from switchpoint.tables.measurements import Measurements
from switchpoint.tables.sweeps import ZOOM

if TYPE_CHECKING:
    from switchpoint.records.footer import Footer, Search

#: Columns that a zoom shares with the sweep of the same curve, without the mode.
PLACE = ["site", "partition", "mpi", "environ", "kernel", "placement"]

#: The kernel whose modes a zoom times.
TIMED_KERNEL = "pingpong"


class SearchRow(CurveIdentity):
    """One search: its curve, its intervention (or null), and the record's fields."""

    intervention: str | None
    method: str
    low_bytes: int
    high_bytes: int
    verdict: str
    last_size_bytes: int | None
    first_size_bytes: int | None
    stayed_eager: bool | None
    jump: float | None
    visits: int | None
    compared_turns: int | None
    time_us: float | None
    involuntary_switches: int | None
    reason: str


SEARCH_COLUMNS = [*SearchRow.__annotations__]

#: The mode of the samples of the late-receiver probe.
_PROBED = "late"

#: Bytes on either side of a predicted or known switch that a search includes.
BESIDE_BYTES = 8

#: The number of steps of one mode that are searched: those with suspects first, then the largest.
_MOST_BRACKETS = 12


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
    rows: list[Mapping[str, object]] = []
    runs = measurements.runs
    for run in records(runs[runs["kernel"] == ZOOM], Run):
        header, footer = measurements.facts(run["run_id"])
        described: Mapping[str, object] = run
        known = {name: described[name] for name in [*PLACE, "run_id"]}
        searched = header.get("kernel", {}).get("name", ZOOM)  # a record may have no facts
        known["kernel"] = TIMED_KERNEL if searched == ZOOM else searched
        known["intervention"] = header.get("labels", {}).get("intervention")
        rows += [{**known, **search} for search in searches_in(footer)]
    return pd.DataFrame(rows, columns=SEARCH_COLUMNS)


def brackets_to_search(
    findings: pd.DataFrame, modes: list[str], *, suspects: bool = True
) -> list[tuple[str, int, int]]:
    """Choose the brackets of a zoom: a sweep's jumps, and close brackets for their suspects.

    A change of slope counts if the time may jump there.

    Parameters
    ----------
    findings
        As from `detect`, of one placement and MPI.
    modes
        Modes that the zoom times.
    suspects
        Whether to add a close bracket for each suspect.

    Returns
    -------
    list of (mode, last size before, first size past), sizes in bytes
        Each once, by mode.
    """
    chosen: dict[tuple[str, int, int], None] = {}
    for mode, of_mode in _jumps(findings, modes).items():
        for step in of_mode[:_MOST_BRACKETS]:
            chosen[mode, step["last_size_before"], step["size_bytes"]] = None
            for suspect in step["suspects"] if suspects else []:
                if (last := suspect["last_size"]) is not None:
                    chosen[beside(mode, last, last + 1)] = None
    return list(chosen)


def brackets_left_out(findings: pd.DataFrame, modes: list[str]) -> list[str]:
    """Say of each mode how many jumps `brackets_to_search` leaves out, in one sentence each."""
    return [
        f"{mode}: of {len(of_mode)} steps only {_MOST_BRACKETS} are searched, those with suspects"
        " and the largest; for the others, give their sizes to zoom as --brackets"
        for mode, of_mode in _jumps(findings, modes).items()
        if len(of_mode) > _MOST_BRACKETS
    ]


def _jumps(findings: pd.DataFrame, modes: list[str]) -> dict[str, list[Finding]]:
    """Return the findings of each mode at which the time may jump, the most important first.

    A step with a suspect is searched however small it is: only a search can find its cause.
    """
    jumps = [row for row in records(findings, Finding) if may_jump(row)]
    jumps.sort(key=lambda row: (bool(row["suspects"]), abs(relative_jump(row))), reverse=True)
    return {mode: [row for row in jumps if row["mode"] == mode] for mode in modes}


def beside(mode: str, last: int, first: int) -> tuple[str, int, int]:
    """Return the bracket around a switch between two known sizes, in bytes."""
    return mode, max(last - BESIDE_BYTES, 0), first + BESIDE_BYTES


def bisected(footer: Footer | None) -> list[Search]:
    """Return the searches of a zoom that located a step to the byte by timing."""
    return [
        search for search in searches_in(footer)
        if search["method"] == "bisection" and search["verdict"] == "exact"
    ]  # fmt: skip


def probed(footer: Footer | None) -> Search | None:
    """Return the late-receiver probe's search in a zoom's footer, if it ended exactly."""
    for search in _probes(footer):
        if search["verdict"] == "exact":
            return search
    return None


def stayed_eager(footer: Footer | None) -> int | None:
    """Return the largest size in bytes that the probe tried, if MPI_Send was always eager."""
    for search in _probes(footer):
        if search["stayed_eager"]:
            return int(search["high_bytes"])
    return None


def sides_of(search: Search | SearchRow) -> tuple[int, int]:
    """Return the sizes in bytes on both sides of the switch that a search located."""
    last, first = search["last_size_bytes"], search["first_size_bytes"]
    assert last is not None
    assert first is not None
    return int(last), int(first)


def _probes(footer: Footer | None) -> Iterator[Search]:
    for search in searches_in(footer):
        if search["method"] == "late_receiver":
            yield search


def searches_in(footer: Footer | None) -> list[Search]:
    """Return the searches of a footer, each with `stayed_eager`, which old kernels did not write.

    The probe tries its largest size only if MPI_Send returned early at the smallest.
    """
    if footer is None:
        return []
    tried = {point["size_bytes"] for point in footer.get("points", []) if point["mode"] == _PROBED}
    return [_with_stayed_eager(search, tried) for search in footer.get("switches", [])]


def _with_stayed_eager(search: Search, tried: Set[int]) -> Search:
    if "stayed_eager" in search:
        return search
    is_open = search["method"] == "late_receiver" and search["verdict"] == "none"
    return {**search, "stayed_eager": search["high_bytes"] in tried if is_open else None}
