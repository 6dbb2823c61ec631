"""The switch ladder: by which protocol each size is sent, at each site, MPI and placement."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypedDict, cast

import numpy as np
import pandas as pd

from switchpoint.comparison.methods import pattern
from switchpoint.comparison.sides import Side
from switchpoint.detection.recurrence import lasting
from switchpoint.errors import InputError
from switchpoint.explanation.catalogue import catalogue
from switchpoint.explanation.causes import PROMINENT_MAGNITUDE, detect
from switchpoint.explanation.eager import StayedEager, stayed_eager
from switchpoint.explanation.places import CURVE, Explained
from switchpoint.explanation.switches import explain, notable
from switchpoint.explanation.zooms import searches
from switchpoint.tables.columns import identity_columns, none_for_nulls, records, rows_by, values_of
from switchpoint.tables.curves import summary_of
from switchpoint.tables.findings import Finding, SettingValue, may_jump
from switchpoint.tables.identity import CurveIdentity
from switchpoint.tables.measurements import Measurements


class Shown(TypedDict):
    """How many launches of a curve show a boundary; null if only a zoom does."""

    launches: int | None
    of_launches: int | None


class Rare(Shown):
    """A boundary that few launches of a curve show."""

    last_size_before: int
    size_bytes: int


class RungSizes(TypedDict):
    """The sizes of a rung, and by which protocol they are sent."""

    protocol: str
    first_size_bytes: int
    last_size_bytes: int


class Boundary(TypedDict):
    """The boundary that begins a rung, as from `explain`; null for the first rung."""

    kind: str | None
    last_size_before: int | None
    exact: bool | None
    magnitude: float | None
    cause: str | None
    value: SettingValue
    status: str | None
    reason: str | None


class Beginning(Boundary, Shown):
    """The same, and how many launches show it."""


class TimeLine(TypedDict):
    """The line latency + size / rate through times; null if it is not known."""

    latency_us: float | None
    rate_MBps: float | None


class Rung(RungSizes, Beginning, TimeLine):
    """A part of a curve's sizes without a boundary, see `ladder`."""

    rare: list[Rare]


class RungOfCurve(Rung, CurveIdentity):
    """A rung with the curve that it is of."""


class Span(CurveIdentity):
    """A curve with its smallest and its largest size."""

    low: float
    high: float


class PointTime(CurveIdentity):
    """The time of a curve at one size, over launches."""

    size_bytes: int
    time_us: float


#: Columns of a rung, after those of its curve: its protocol and sizes, then what begins it.
RUNG_COLUMNS = [
    *RungSizes.__annotations__, *Beginning.__annotations__, "rare", *TimeLine.__annotations__,
]  # fmt: skip

#: A line through fewer sizes says nothing.
_FEWEST_FITTED = 3

INLINE, EAGER, RENDEZVOUS, UNKNOWN = "inline", "eager", "rendezvous", "not known"

#: In the order in which larger messages meet them.
PROTOCOLS = [INLINE, EAGER, RENDEZVOUS, UNKNOWN]

#: Origins of steps below which a message travels inside the control fragment.
_INLINE_ORIGIN = "inline_limit"


def ladder(
    measurements: Measurements,
    mode: str = "send",
    findings: pd.DataFrame | None = None,
    progress: Callable[[], object] = lambda: None,
) -> pd.DataFrame:
    """Divide the sizes of each curve by its switches and steps.

    Parameters
    ----------
    measurements
        Sweeps, zooms and interventions; other benchmarks count with the mode of their pattern.
    mode
        The mode of the kernel `pingpong`.
    findings
        As from `detect`, if they are known already.
    progress
        Called after each curve.

    Returns
    -------
    DataFrame
        One row per rung, by curve and size: the curve's identity without the run; `protocol`
        (`inline`, `eager`, `rendezvous`, or `not known` without a proof); `first_size_bytes` and
        `last_size_bytes`; and of the boundary that begins it, null for the first rung: `kind`,
        `last_size_before`, `exact` (whether it is known to the byte), `magnitude`, `cause`,
        `value`, `status`, `reason`, `launches` and `of_launches`, as from `explain`. Boundaries
        that are small and have no cause are left out. Those that fewer than half of the launches
        show do not divide: `rare` has a dictionary for each that lies in the rung, with
        `last_size_before`, `size_bytes`, `launches` and `of_launches`.
        `latency_us` and `rate_MBps` are of the line through the times of the
        rung, latency + size / rate, with equal relative weights; null with fewer than three sizes,
        and the rate if the time does not grow.
    """
    chosen = _of_mode(measurements, mode)
    found = detect(chosen, progress) if findings is None else findings
    lasts = lasting(found)
    switches = explain(chosen, found[lasts])
    switches = switches[notable(switches) | switches["exact"]]
    eager = {
        values_of(row, CURVE): row["up_to_bytes"]
        for row in records(stayed_eager(chosen), StayedEager)
    }
    points = _rows_of_mode(summary_of(measurements), mode)
    spans = _spans(chosen, points, mode)
    columns = [str(name) for name in spans if name not in {"low", "high"}]
    by_curve = rows_by(records(switches, Explained), columns)
    times = rows_by(records(_typical(points), PointTime), columns)
    rare = rows_by(_large_jumps(found[~lasts]), columns)
    rows: list[Mapping[str, object]] = []
    for span in records(spans, Span):
        key = values_of(span, columns)
        curve = dict(zip(columns, key, strict=True))
        rungs = _rungs(
            span,
            _merged(by_curve.get(key, [])),
            eager.get(values_of(span, CURVE)),
            _each_once(rare.get(key, [])),
            times.get(key, []),
        )
        rows += [{**curve, **rung} for rung in rungs]
    return pd.DataFrame(rows, columns=[*columns, *RUNG_COLUMNS], dtype=object)


def ladder_of_sides(
    sides: Sequence[Side], mode: str = "send", progress: Callable[[], object] = lambda: None
) -> pd.DataFrame:
    """Return the ladders of several sides, with the column `side` if there are more than one.

    Raises
    ------
    InputError
        If no side has a curve of this mode.
    """
    found = [ladder(side.measurements, mode, None, progress) for side in sides]
    if len(sides) > 1:
        found = [
            rungs.assign(side=f"{side.letter} {side.selection.text}")
            for side, rungs in zip(sides, found, strict=True)
        ]
    filled = [rungs for rungs in found if len(rungs)]
    if not filled:
        raise InputError("--mode", f"no curve has the mode '{mode}'; choose another one")
    return pd.concat(filled, ignore_index=True)


def _of_mode(measurements: Measurements, mode: str) -> Measurements:
    """Return the measurements without samples of other modes; zooms keep their searches."""
    return dataclasses.replace(
        measurements,
        samples=_rows_of_mode(measurements.samples, mode),
        points=_rows_of_mode(measurements.points, mode),
    )


def _rows_of_mode(table: pd.DataFrame, mode: str) -> pd.DataFrame:
    names = [name for name in ("kernel", "mode") if name in table]
    if table.empty or not names:
        return table
    code = table.groupby(names, dropna=False, observed=True, sort=False).ngroup().to_numpy()
    _, first = np.unique(code, return_index=True)
    wanted = [_is_mode(row, mode) for row in records(table[names].iloc[first], CurveIdentity)]
    return table[np.array(wanted)[code]].reset_index(drop=True)


def _is_mode(row: CurveIdentity, mode: str) -> bool:
    kernel, own = pattern(row.get("kernel"), row.get("mode"))
    return own == mode or (own is None and kernel is None)


def _typical(points: pd.DataFrame) -> pd.DataFrame:
    """Return the median time over launches of each curve and size."""
    names = [name for name in identity_columns(points) if name != "run_id"]
    grouped = points.groupby([*names, "size_bytes"], dropna=False, observed=True, sort=False)
    return grouped["time_us"].median().reset_index()


def _line(points: list[PointTime], first: int, last: int) -> TimeLine:
    """Fit latency + size / rate to the times from a size to another."""
    inside = [point for point in points if first <= point["size_bytes"] <= last]
    if len(inside) < _FEWEST_FITTED:
        return {"latency_us": None, "rate_MBps": None}
    size = np.array([point["size_bytes"] for point in inside], dtype=float)
    time = np.array([point["time_us"] for point in inside])
    ends = np.vstack([1 / time, size / time]).T
    (latency, per_byte), *_ = np.linalg.lstsq(ends, np.ones(len(time)), rcond=None)
    if per_byte <= 0 or latency <= 0:
        return {"latency_us": float(np.median(time)), "rate_MBps": None}
    return {"latency_us": float(latency), "rate_MBps": float(1 / per_byte)}


def _spans(measurements: Measurements, points: pd.DataFrame, mode: str) -> pd.DataFrame:
    """Return each curve with its smallest and largest known size, from sweeps and zooms."""
    of_points = points.assign(low=points["size_bytes"], high=points["size_bytes"])
    found = searches(measurements)
    found = found[found["mode"].eq(mode) & found["intervention"].isna()]
    of_zooms = found.assign(low=found["low_bytes"].clip(lower=1), high=found["high_bytes"])
    names = [
        name for name in dict.fromkeys([*CURVE, *identity_columns(points)]) if name != "run_id"
    ]
    both = pd.concat(
        [none_for_nulls(table.reindex(columns=[*names, "low", "high"]).astype(object))
         for table in (of_points, of_zooms)],
        ignore_index=True,
    ).astype({"low": float, "high": float})  # fmt: skip
    spans = both.groupby(names, dropna=False, sort=True, as_index=False)
    return spans.agg(low=("low", "min"), high=("high", "max"))


def _large_jumps(findings: pd.DataFrame) -> list[Finding]:
    """Return the findings at which the time may jump, and by much."""
    return [
        row for row in records(findings, Finding)
        if may_jump(row) and abs(row["magnitude"]) >= PROMINENT_MAGNITUDE
    ]  # fmt: skip


def _each_once(rows: list[Finding]) -> list[Rare]:
    """Return where launches have jumps that overlap, as the narrowest of each, by size."""
    boundaries: list[Rare] = []
    for row in sorted(rows, key=lambda row: row["size_bytes"] - row["last_size_before"]):
        last, first = row["last_size_before"], row["size_bytes"]
        if all(last >= one["size_bytes"] or first <= one["last_size_before"] for one in boundaries):
            evidence = row["evidence"]
            boundaries.append({
                "last_size_before": last, "size_bytes": first,
                "launches": evidence["launches"], "of_launches": evidence["of_launches"],
            })  # fmt: skip
    return sorted(boundaries, key=lambda one: one["size_bytes"])


def _within(first: int, last: int, rare: list[Rare]) -> list[Rare]:
    """Return the rare boundaries inside a rung; those that overlap its ends are drawn already."""
    return [one for one in rare if first <= one["last_size_before"] and one["size_bytes"] <= last]


def _merged(rows: list[Explained]) -> list[Explained]:
    """Join boundaries whose brackets overlap: launches may bracket one differently."""
    groups: list[list[Explained]] = []
    reach = -1
    for row in sorted(rows, key=lambda row: (row["last_size_bytes"], row["first_size_bytes"])):
        if row["last_size_bytes"] >= reach:
            groups.append([])
            reach = row["first_size_bytes"]
        groups[-1].append(row)
        reach = min(reach, row["first_size_bytes"])
    return [_narrowest(group) for group in groups]


def _narrowest(rows: list[Explained]) -> Explained:
    """Return the narrowest of several brackets, with the launches of that which most show."""

    def width(row: Explained) -> tuple[bool, int]:
        return row["kind"] != "protocol_switch", row["first_size_bytes"] - row["last_size_bytes"]

    most = max(rows, key=lambda row: row["launches"] or 0)
    return {
        **min(rows, key=width),
        "launches": most["launches"],
        "of_launches": most["of_launches"],
    }


def _rungs(
    span: Span,
    boundaries: list[Explained],
    eager_up_to: int | None,
    rare: list[Rare],
    points: list[PointTime],
) -> Iterator[Rung]:
    """Yield the rungs of a curve, by size."""
    starts = [int(span["low"]), *(row["first_size_bytes"] for row in boundaries)]
    ends = [*(row["last_size_bytes"] for row in boundaries), int(span["high"])]
    inline_end = max(
        (row["last_size_bytes"] for row in boundaries if _ends_inline(row)), default=None
    )
    ends_of_eager = [row["last_size_bytes"] for row in boundaries if _ends_eager(row)]
    eager_end = min(ends_of_eager, default=eager_up_to)
    for number, (first, last) in enumerate(zip(starts, ends, strict=True)):
        if inline_end is not None and last <= inline_end:
            protocol = INLINE
        elif eager_end is not None and last <= eager_end:
            protocol = EAGER
        else:
            protocol = RENDEZVOUS if ends_of_eager else UNKNOWN
        last = max(first, last)
        yield {
            "protocol": protocol,
            "first_size_bytes": first,
            "last_size_bytes": last,
            **_begun_by(boundaries[number - 1] if number else None),
            "rare": _within(first, last, rare),
            **_line(points, first, last),
        }


def _begun_by(boundary: Explained | None) -> Beginning:
    """Return what begins a rung; nothing begins the first."""
    if boundary is None:
        return cast("Beginning", dict.fromkeys(Beginning.__annotations__))
    return {
        "kind": boundary["kind"],
        "last_size_before": boundary["last_size_bytes"],
        "exact": boundary["exact"],
        "magnitude": boundary["magnitude"],
        "cause": boundary["cause"],
        "value": boundary["value"],
        "status": boundary["status"],
        "reason": boundary["reason"],
        "launches": boundary["launches"],
        "of_launches": boundary["of_launches"],
    }


def _ends_eager(row: Explained) -> bool:
    """Return whether a boundary is proved to end the eager protocol."""
    return row["kind"] == "protocol_switch"


def _ends_inline(row: Explained) -> bool:
    """Return whether a message below a boundary is known to travel inside the control fragment."""
    if row["origin"] and row["origin"]["guess"] == _INLINE_ORIGIN:
        return True
    settings = [entry for entry in catalogue().settings if entry.variable == row["cause"]]
    return row["status"] == "confirmed" and any(not entry.ends_eager for entry in settings)
