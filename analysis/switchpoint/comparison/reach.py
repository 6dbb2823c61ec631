"""What each site reaches, and how much of what its link and its sockets allow."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict, cast

import numpy as np
import pandas as pd

from switchpoint.comparison.ladder import RungOfCurve, ladder
from switchpoint.comparison.matching import Curve, curves_of
from switchpoint.comparison.methods import (
    HALF_ROUND_TRIP,
    METHOD_COLUMNS,
    ONE_WAY,
    pattern,
    quantity,
)
from switchpoint.comparison.sides import Side, select_all
from switchpoint.records.run_facts import LINK, prove
from switchpoint.tables.columns import Run, records
from switchpoint.tables.measurements import facts_of
from switchpoint.tables.student import t975

#: Columns of a place. Benchmarks of one place are separate rows, and so are other labels.
PLACE_COLUMNS = ["side", "site", "partition", "mpi", "environ", "placement", "benchmark"]

#: Each value with its 95 % interval over launches, null with one launch.
_MEASURED = ["latency_us", "peak_MBps", "half_size_bytes", "messages_per_s"]

LIMIT_COLUMNS = [
    *PLACE_COLUMNS, "launches",
    *(f"{name}{end}" for name in _MEASURED for end in ("", "_low", "_high")),
    "latency_size_bytes", "peak_size_bytes", "peak_of", "link_MBps", "link_from", "share_of_link",
    "sockets_us", "over_sockets", "switches",
]  # fmt: skip

#: Columns in which the curves of one place differ.
_PATTERN = ("kernel", "mode", "run_id")

_PROCESSES = "processes"

#: Launches of one curve measured at least this share of the sizes of that with most of them.
_ENOUGH_SIZES = 0.5


class Jump(TypedDict):
    """What the table says of a boundary of a ladder."""

    last_size_before: int
    first_size_bytes: int
    exact: bool | None
    magnitude: float | None
    launches: int | None
    of_launches: int | None


class Reached(TypedDict, total=False):
    """What the curves of a place reach; also the ends of each interval, `_low` and `_high`."""

    launches: int
    latency_us: float
    latency_size_bytes: int
    half_size_bytes: float
    peak_of: str
    peak_size_bytes: int
    peak_MBps: float
    messages_per_s: float


class OfLink(TypedDict, total=False):
    """What the link of a place allows, and the share of it that was reached."""

    link_MBps: float
    link_from: str
    share_of_link: float | None


class OfSockets(TypedDict, total=False):
    """The latency of sockets, and that of MPI over it."""

    sockets_us: float
    over_sockets: float


#: A latency is that of the smallest size that was measured, if it is at most this.
_SMALL_BYTES = 64

#: Names of benchmarks by the start of their kernels' names.
_BENCHMARKS = {"osu_": "OSU", "imb_": "IMB", "netpipe": "NetPIPE"}


def reach(
    *selections: str,
    store: str | os.PathLike[str] = "results",
    last: int = 1,
    switches: bool = False,
) -> pd.DataFrame:
    """Tabulate what each site, MPI and placement reaches.

    Parameters
    ----------
    selections, store, last
        As for `compare`; without selections the whole store.
    switches
        Also find the sizes at which the time jumps.

    Returns
    -------
    DataFrame
        `PLACE_COLUMNS`, every other label of the curves, such as `fabric` or `nodes`, and the other
        `LIMIT_COLUMNS`, one row per side, place, label and benchmark: nothing that differs in a
        label is in one row. `latency_us` is half a round trip at
        the smallest size (`latency_size_bytes`); `peak_MBps` the largest bandwidth of a stream in
        one direction, otherwise of round trips (`peak_of`), at `peak_size_bytes`;
        `half_size_bytes` the size at which round trips reach half of their own largest bandwidth
        (n1/2, Hockney 1994); `messages_per_s` those of a stream at its smallest size. Each is the
        geometric mean over launches, with a 95 % interval. `link_MBps` is what the site's file
        declares (`link_from` = `declared`), otherwise what the interface that carried the bytes
        reports (`interface`). `share_of_link` is the peak over it. `sockets_us` is half a round
        trip over TCP sockets at the same size and placement (the kernel `echo`), `over_sockets`
        the latency over it. `switches` has a dictionary for each boundary of the place's ladder:
        `last_size_before`, `first_size_bytes`, `exact`, `magnitude`, and how many `launches` of
        `of_launches` show it; it is null if they were not asked for.
    """
    sides = select_all(selections, store, last)
    return reach_of_sides(sides, [ladder(s.measurements) for s in sides] if switches else None)


def reach_of_sides(
    sides: Sequence[Side], ladders: Sequence[pd.DataFrame] | None = None
) -> pd.DataFrame:
    """Tabulate what sides reach, as `reach` does, with the boundaries of each side's ladder."""
    rows: list[Mapping[str, object]] = []
    labels: dict[str, None] = {}
    for index, side in enumerate(sides):
        sockets: dict[tuple[str | None, ...], Curve] = {}
        reaching: list[Curve] = []
        for curve in curves_of(side):
            identity = curve.identity
            where = identity.get("site"), identity.get("placement")
            if identity.get("kernel") == "echo":
                if (identity.get("mode") or "").startswith("sockets"):
                    sockets[where] = _faster(sockets.get(where), curve)
                continue
            if quantity(identity.get("kernel"), identity.get("mode")) in (HALF_ROUND_TRIP, ONE_WAY):
                reaching.append(curve)
        places = _Places.of(side.letter, reaching)
        labels |= dict.fromkeys(places.labels)
        links = _links(side)
        boundaries = None if ladders is None else _boundaries(places, ladders[index])
        for place, curves in places.curves.items():
            named, reached = places.named(place), _reached(curves)
            own_sockets = sockets.get((named["site"], named["placement"]))
            found = {} if boundaries is None else {"switches": boundaries.get(place, [])}
            rows.append(
                {
                    **named,
                    **reached,
                    **_of_link(reached, _link_of(curves, links)),
                    **_of_sockets(reached, own_sockets),
                    **found,
                }
            )
    of_place = [*PLACE_COLUMNS, *labels]
    others = [name for name in LIMIT_COLUMNS if name not in PLACE_COLUMNS]
    table = pd.DataFrame(rows, columns=[*of_place, *others])
    return table.sort_values(of_place, ignore_index=True)


def place_columns(table: pd.DataFrame) -> list[str]:
    """Return the columns of the table that name a place: `PLACE_COLUMNS`, then labels."""
    return [str(name) for name in table if name in PLACE_COLUMNS or name not in LIMIT_COLUMNS]


@dataclass(frozen=True)
class _Places:
    """The curves of a side by their place: curves that differ in a label are never together.

    How a stream was measured, such as its window, divides curves only if streams differ in it:
    round trips have no window.
    """

    side: str
    labels: list[str]
    curves: dict[tuple[str | None, ...], list[Curve]]

    @classmethod
    def of(cls, side: str, curves: Sequence[Curve]) -> _Places:
        names = dict.fromkeys(name for curve in curves for name in curve.identity)
        own = [name for name in names if name not in {*PLACE_COLUMNS, *_PATTERN}]
        if all(curve.identity.get(_PROCESSES) in {None, "2"} for curve in curves):
            own = [name for name in own if name != _PROCESSES]  # IMB alone prints it
        labels = [
            name for name in own
            if name not in METHOD_COLUMNS and any(curve.identity.get(name) for curve in curves)
        ]  # fmt: skip
        labels += [name for name in own if name in METHOD_COLUMNS and _tells(curves, name)]
        places: dict[tuple[str | None, ...], list[Curve]] = {}
        for curve in curves:
            places.setdefault(_place(side, curve.identity, labels), []).append(curve)
        return cls(side, labels, places)

    def named(self, place: tuple[str | None, ...]) -> dict[str, str | None]:
        """Return the columns of a place."""
        return dict(zip([*PLACE_COLUMNS, *self.labels], place, strict=True))


def _tells(curves: Sequence[Curve], name: str) -> bool:
    """Return whether curves of one kernel and mode differ in a column."""
    values: dict[tuple[str | None, ...], set[str | None]] = {}
    for curve in curves:
        key = curve.identity.get("kernel"), curve.identity.get("mode")
        values.setdefault(key, set()).add(curve.identity.get(name))
    return any(len(own) > 1 for own in values.values())


def _place(side: str, identity: Mapping[Any, Any], labels: Sequence[str]) -> tuple[str | None, ...]:
    kernel = identity.get("kernel") or ""
    named = [name for start, name in _BENCHMARKS.items() if kernel.startswith(start)]
    own = [identity.get(name) for name in PLACE_COLUMNS[1:-1]]
    values = [identity.get(name) for name in labels]
    return (side, *own, named[0] if named else kernel, *values)


def _boundaries(places: _Places, rungs: pd.DataFrame) -> dict[tuple[str | None, ...], list[Jump]]:
    """Return where the time of each place jumps, by size, each boundary once."""
    found: dict[tuple[str | None, ...], list[Jump]] = {}
    for rung in records(rungs, RungOfCurve):
        if (before := rung["last_size_before"]) is not None:
            boundaries = found.setdefault(_place(places.side, rung, places.labels), [])
            boundaries.append({
                "last_size_before": before, "first_size_bytes": rung["first_size_bytes"],
                "exact": rung["exact"], "magnitude": rung["magnitude"],
                "launches": rung["launches"], "of_launches": rung["of_launches"],
            })  # fmt: skip
    return found


def _faster(known: Curve | None, curve: Curve) -> Curve:
    if known is None or np.nanmean(curve.log_time[:, 0]) < np.nanmean(known.log_time[:, 0]):
        return curve
    return known


def _reached(curves: list[Curve]) -> Reached:
    """Return what the curves of a place reach, over launches."""
    by_mode = {
        pattern(curve.identity.get("kernel"), curve.identity.get("mode"))[1]: _alike(curve)
        for curve in curves
    }
    trips, stream = by_mode.get("send"), by_mode.get("stream")
    shown = [curve for curve in (trips, stream) if curve is not None] or [*by_mode.values()]
    found: Reached = {"launches": max(len(curve.run_ids) for curve in shown)}
    if trips is not None:
        if trips.size_bytes[0] <= _SMALL_BYTES:
            found["latency_size_bytes"] = int(trips.size_bytes[0])
            found |= _over_launches("latency_us", trips.log_time[:, 0])
        found |= _over_launches("half_size_bytes", _half_sizes(trips))
    fastest = stream if stream is not None else trips
    if fastest is not None:
        rates = np.log(np.maximum(fastest.size_bytes, 1)) - fastest.log_time
        found["peak_of"] = "round trips" if stream is None else "stream"
        found["peak_size_bytes"] = int(fastest.size_bytes[np.nanmean(rates, axis=0).argmax()])
        found |= _over_launches("peak_MBps", np.nanmax(rates, axis=1))
    if stream is not None and stream.size_bytes[0] <= _SMALL_BYTES:
        found |= _over_launches("messages_per_s", np.log(1e6) - stream.log_time[:, 0])
    return found


def _alike(curve: Curve) -> Curve:
    """Return a curve with the launches that measured the same: from where to where, how closely.

    A smoke run or a closer look at some sizes is no launch of a sweep. The launch with most sizes
    decides.
    """
    measured = ~np.isnan(curve.log_time)
    count = measured.sum(axis=1)
    first = measured.argmax(axis=1)
    last = measured.shape[1] - 1 - measured[:, ::-1].argmax(axis=1)
    most = int(count.argmax())
    alike = (first == first[most]) & (last == last[most]) & (count >= _ENOUGH_SIZES * count[most])
    sizes = measured[alike].any(axis=0)
    return Curve(
        curve.identity,
        [run for run, own in zip(curve.run_ids, alike, strict=True) if own],
        curve.size_bytes[sizes],
        curve.log_time[alike][:, sizes],
        curve.error[alike][:, sizes],
    )


def _over_launches(name: str, logs: np.ndarray[Any, np.dtype[np.float64]]) -> Reached:
    """Return the geometric mean over launches, with its interval if there are several."""
    known = logs[~np.isnan(logs)]
    if not len(known):
        return {}
    mean = float(known.mean())
    found = {name: float(np.exp(mean))}
    if len(known) > 1:
        error = float(known.std(ddof=1) / len(known) ** 0.5 * t975(len(known) - 1))
        found |= {f"{name}_low": float(np.exp(mean - error)),
                  f"{name}_high": float(np.exp(mean + error))}  # fmt: skip
    return cast("Reached", found)


def _half_sizes(trips: Curve) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return the logarithm of n1/2 of each launch; NaN if the smallest size already reaches it."""
    measured = trips.size_bytes > 0
    logs = np.log(trips.size_bytes[measured])
    found = []
    for log_time in trips.log_time[:, measured]:
        rate = logs - log_time
        known = ~np.isnan(rate)
        size, rate = logs[known], rate[known]
        half = rate.max(initial=-np.inf) - np.log(2)
        first = int(np.argmax(rate >= half)) if len(rate) else 0
        if first == 0:
            found.append(np.nan)
            continue
        last = first - 1
        part = (half - rate[last]) / (rate[first] - rate[last])
        found.append(size[last] + part * (size[first] - size[last]))
    return np.array(found)


def _links(side: Side) -> dict[str, tuple[float, str]]:
    """Return the rate of the link of each run in MB/s, and who says so."""
    runs = records(side.runs, Run)
    return {run["run_id"]: link for run in runs if (link := _link(run))}


def _link_of(
    curves: Sequence[Curve], links: Mapping[str, tuple[float, str]]
) -> tuple[float, str] | None:
    """Return the link of the runs of a place; None if it is not known or they differ in it."""
    known = {links[run] for curve in curves for run in curve.run_ids if run in links}
    declared = {link for link in known if link[1] == "declared"}
    one = declared or known
    return next(iter(one)) if len(one) == 1 else None


def _link(run: Run) -> tuple[float, str] | None:
    declared = json.loads(run["labels"] or "{}").get(LINK)
    if declared:
        return float(declared) * 1e3 / 8, "declared"
    header, footer = facts_of(run)
    if not header:
        return None
    proof = prove(header, footer)
    if proof.path != "network" or not proof.speed_mbps or proof.speed_mbps < 0:
        return None
    return proof.speed_mbps / 8, "interface"


def _of_link(row: Reached, link: tuple[float, str] | None) -> OfLink:
    if link is None:
        return {}
    share = row["peak_MBps"] / link[0] if "peak_MBps" in row else None
    return {"link_MBps": link[0], "link_from": link[1], "share_of_link": share}


def _of_sockets(row: Reached, sockets: Curve | None) -> OfSockets:
    size = row.get("latency_size_bytes")
    if sockets is None or size is None or size not in sockets.size_bytes:
        return {}
    log_time, _ = sockets.at(np.array([size]))
    time = float(np.exp(np.nanmean(log_time)))
    return {"sockets_us": time, "over_sockets": row["latency_us"] / time}
