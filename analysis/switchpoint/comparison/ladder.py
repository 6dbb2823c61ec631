"""The switch ladder: by which protocol each size is sent, at each site, MPI and placement."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from switchpoint.comparison.methods import pattern
from switchpoint.comparison.sides import Side
from switchpoint.detection.recurrence import lasting
from switchpoint.errors import InputError
from switchpoint.explanation.catalogue import catalogue
from switchpoint.explanation.causes import PROMINENT_MAGNITUDE, detect
from switchpoint.explanation.eager import stayed_eager
from switchpoint.explanation.places import CURVE
from switchpoint.explanation.switches import explain, notable
from switchpoint.explanation.zooms import searches
from switchpoint.tables.columns import identity_columns, none_for_nulls, records, rows_by, values_of
from switchpoint.tables.curves import summary_of
from switchpoint.tables.findings import may_jump
from switchpoint.tables.measurements import Measurements

#: Columns of a rung, after those of its curve: its protocol and sizes, then what begins it.
RUNG_COLUMNS = [
    "protocol", "first_size_bytes", "last_size_bytes", "kind", "last_size_before", "exact",
    "magnitude", "cause", "value", "status", "reason", "launches", "of_launches", "rare",
    "latency_us", "rate_MBps",
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
    eager = {values_of(row, CURVE): row for row in records(stayed_eager(chosen))}
    points = _rows_of_mode(summary_of(measurements), mode)
    spans = _spans(chosen, points, mode)
    columns = [str(name) for name in spans if name not in {"low", "high"}]
    by_curve = rows_by(records(switches), columns)
    times = rows_by(records(_typical(points)), columns)
    rare = rows_by(_large_jumps(found[~lasts]), columns)
    rows = []
    for span in records(spans):
        boundaries = _merged(by_curve.get(values_of(span, columns), []))
        up_to = eager.get(values_of(span, CURVE), {}).get("up_to_bytes")
        curve: dict[Any, Any] = {name: span[name] for name in columns}
        own = times.get(values_of(span, columns), [])
        others = _each_once(rare.get(values_of(span, columns), []))
        rows += [
            curve | rung | {"rare": _within(rung, others)} | _line(own, rung)
            for rung in _rungs(span, boundaries, up_to)
        ]
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
    wanted = [_is_mode(row, mode) for row in records(table[names].iloc[first])]
    return table[np.array(wanted)[code]].reset_index(drop=True)


def _is_mode(row: Mapping[str, Any], mode: str) -> bool:
    kernel, own = pattern(row.get("kernel"), row.get("mode"))
    return own == mode or (own is None and kernel is None)


def _typical(points: pd.DataFrame) -> pd.DataFrame:
    """Return the median time over launches of each curve and size."""
    names = [name for name in identity_columns(points) if name != "run_id"]
    grouped = points.groupby([*names, "size_bytes"], dropna=False, observed=True, sort=False)
    return grouped["time_us"].median().reset_index()


def _line(points: list[dict[str, Any]], rung: Mapping[str, Any]) -> dict[str, float | None]:
    """Fit latency + size / rate to the times of a rung."""
    first, last = rung["first_size_bytes"], rung["last_size_bytes"]
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


def _large_jumps(findings: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the findings at which the time may jump, and by much."""
    return [
        row for row in records(findings)
        if may_jump(row) and abs(row["magnitude"]) >= PROMINENT_MAGNITUDE
    ]  # fmt: skip


def _each_once(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return where launches have jumps that overlap, as the narrowest of each, by size."""
    boundaries: list[dict[str, Any]] = []
    for row in sorted(rows, key=lambda row: row["size_bytes"] - row["last_size_before"]):
        last, first = row["last_size_before"], row["size_bytes"]
        if all(last >= one["size_bytes"] or first <= one["last_size_before"] for one in boundaries):
            counts = {name: row["evidence"][name] for name in ("launches", "of_launches")}
            boundaries.append({"last_size_before": last, "size_bytes": first, **counts})
    return sorted(boundaries, key=lambda one: int(one["size_bytes"]))


def _within(rung: Mapping[str, Any], rare: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rare boundaries inside a rung; those that overlap its ends are drawn already."""
    first, last = rung["first_size_bytes"], rung["last_size_bytes"]
    return [one for one in rare if first <= one["last_size_before"] and one["size_bytes"] <= last]


def _merged(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Join boundaries whose brackets overlap: launches may bracket one differently."""
    groups: list[list[dict[str, Any]]] = []
    reach = -1
    for row in sorted(rows, key=lambda row: (row["last_size_bytes"], row["first_size_bytes"])):
        if row["last_size_bytes"] >= reach:
            groups.append([])
            reach = row["first_size_bytes"]
        groups[-1].append(row)
        reach = min(reach, row["first_size_bytes"])
    return [_narrowest(group) for group in groups]


def _narrowest(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the narrowest of several brackets, with the launches of that which most show."""

    def width(row: dict[str, Any]) -> tuple[bool, int]:
        return row["kind"] != "protocol_switch", row["first_size_bytes"] - row["last_size_bytes"]

    most = max(rows, key=lambda row: row["launches"] or 0)
    return min(rows, key=width) | {name: most[name] for name in ("launches", "of_launches")}


def _rungs(
    span: Mapping[str, Any], boundaries: list[dict[str, Any]], eager_up_to: int | None
) -> Iterator[dict[str, Any]]:
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
        boundary = boundaries[number - 1] if number else {}
        yield {
            "protocol": protocol,
            "first_size_bytes": first,
            "last_size_bytes": max(first, last),
            "kind": boundary.get("kind"),
            "last_size_before": boundary.get("last_size_bytes"),
            **{
                name: boundary.get(name)
                for name in (
                    "exact",
                    "magnitude",
                    "cause",
                    "value",
                    "status",
                    "reason",
                    "launches",
                    "of_launches",
                )
            },
        }


def _ends_eager(row: Mapping[str, Any]) -> bool:
    """Return whether a boundary is proved to end the eager protocol."""
    return bool(row["kind"] == "protocol_switch")


def _ends_inline(row: Mapping[str, Any]) -> bool:
    """Return whether a message below a boundary is known to travel inside the control fragment."""
    origin = row["origin"] or {}
    if origin.get("guess") == _INLINE_ORIGIN:
        return True
    settings = [entry for entry in catalogue().settings if entry.variable == row["cause"]]
    return row["status"] == "confirmed" and any(not entry.ends_eager for entry in settings)
