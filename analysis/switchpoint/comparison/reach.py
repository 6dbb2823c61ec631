"""What each site reaches, and how much of what its link and its sockets allow."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from switchpoint.comparison.ladder import ladder
from switchpoint.comparison.matching import Curve, curves_of
from switchpoint.comparison.methods import HALF_ROUND_TRIP, ONE_WAY, pattern, quantity
from switchpoint.comparison.sides import Side, select_all
from switchpoint.records.run_facts import prove
from switchpoint.tables.columns import LINK, none_for_nulls
from switchpoint.tables.measurements import facts_of
from switchpoint.tables.student import t975

#: Columns of a place. Benchmarks of one place are separate rows.
PLACE_COLUMNS = ["side", "site", "partition", "mpi", "environ", "placement", "benchmark"]

#: Each value with its 95 % interval over launches, null with one launch.
_MEASURED = ["latency_us", "peak_MBps", "half_size_bytes", "messages_per_s"]

LIMIT_COLUMNS = [
    *PLACE_COLUMNS, "launches",
    *(f"{name}{end}" for name in _MEASURED for end in ("", "_low", "_high")),
    "latency_size_bytes", "peak_size_bytes", "peak_of", "link_MBps", "link_from", "share_of_link",
    "sockets_us", "over_sockets", "switches",
]  # fmt: skip

#: What the table tells of a boundary of a ladder.
_BOUNDARY = ["last_size_before", "first_size_bytes", "exact", "magnitude"]

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
        `LIMIT_COLUMNS`, one row per side, place and benchmark. `latency_us` is half a round trip at
        the smallest size (`latency_size_bytes`); `peak_MBps` the largest bandwidth of a stream in
        one direction, otherwise of round trips (`peak_of`), at `peak_size_bytes`;
        `half_size_bytes` the size at which round trips reach half of their own largest bandwidth
        (n1/2, Hockney 1994); `messages_per_s` those of a stream at its smallest size. Each is the
        geometric mean over launches, with a 95 % interval. `link_MBps` is what the site's file
        declares (`link_from` = `declared`), otherwise what the interface that carried the bytes
        reports (`interface`). `share_of_link` is the peak over it. `sockets_us` is half a round
        trip over TCP sockets at the same size and placement (the kernel `echo`), `over_sockets`
        the latency over it. `switches` has a dictionary for each boundary of the place's ladder:
        `last_size_before`, `first_size_bytes`, `exact` and `magnitude`; it is null if they were
        not asked for.
    """
    sides = select_all(selections, store, last)
    return reach_of_sides(sides, [ladder(s.measurements) for s in sides] if switches else None)


def reach_of_sides(
    sides: Sequence[Side], ladders: Sequence[pd.DataFrame] | None = None
) -> pd.DataFrame:
    """Tabulate what sides reach, as `reach` does, with the boundaries of each side's ladder."""
    rows = []
    for index, side in enumerate(sides):
        places: dict[tuple[str | None, ...], list[Curve]] = {}
        sockets: dict[tuple[str | None, ...], Curve] = {}
        for curve in curves_of(side):
            identity = curve.identity
            where = identity.get("site"), identity.get("placement")
            if identity.get("kernel") == "echo":
                if (identity.get("mode") or "").startswith("sockets"):
                    sockets[where] = _faster(sockets.get(where), curve)
                continue
            if quantity(identity.get("kernel"), identity.get("mode")) in (HALF_ROUND_TRIP, ONE_WAY):
                places.setdefault(_place(side.letter, identity), []).append(curve)
        links = _links(side)
        boundaries = None if ladders is None else _boundaries(side.letter, ladders[index])
        for place, curves in places.items():
            row = dict(zip(PLACE_COLUMNS, place, strict=True)) | _reached(curves)
            link = links.get((row["site"], row["mpi"], row["placement"]))
            own_sockets = sockets.get((row["site"], row["placement"]))
            found = {} if boundaries is None else {"switches": boundaries.get(place, [])}
            rows.append(row | _of_link(row, link) | _of_sockets(row, own_sockets) | found)
    table = pd.DataFrame(rows, columns=LIMIT_COLUMNS)
    return table.sort_values(PLACE_COLUMNS, ignore_index=True)


def _place(side: str, identity: Mapping[Any, Any]) -> tuple[str | None, ...]:
    kernel = identity.get("kernel") or ""
    named = [name for start, name in _BENCHMARKS.items() if kernel.startswith(start)]
    own = [identity.get(name) for name in PLACE_COLUMNS[1:-1]]
    return (side, *own, named[0] if named else kernel)


def _boundaries(
    side: str, rungs: pd.DataFrame
) -> dict[tuple[str | None, ...], list[dict[str, Any]]]:
    """Return where the time of each place jumps, by size."""
    found: dict[tuple[str | None, ...], list[dict[str, Any]]] = {}
    for rung in none_for_nulls(rungs).to_dict("records"):
        if rung["last_size_before"] is not None:
            told = found.setdefault(_place(side, rung), [])
            told.append({name: rung[name] for name in _BOUNDARY})
    return found


def _faster(known: Curve | None, curve: Curve) -> Curve:
    if known is None or np.nanmean(curve.log_time[:, 0]) < np.nanmean(known.log_time[:, 0]):
        return curve
    return known


def _reached(curves: list[Curve]) -> dict[str, Any]:
    """Return what the curves of a place reach, over launches."""
    by_mode = {
        pattern(curve.identity.get("kernel"), curve.identity.get("mode"))[1]: curve
        for curve in sorted(curves, key=lambda curve: len(curve.run_ids))
    }
    trips, stream = by_mode.get("send"), by_mode.get("stream")
    found: dict[str, Any] = {"launches": max(len(curve.run_ids) for curve in curves)}
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


def _over_launches(name: str, logs: np.ndarray[Any, np.dtype[np.float64]]) -> dict[str, float]:
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
    return found


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


def _links(side: Side) -> dict[tuple[str | None, ...], tuple[float, str]]:
    """Return the rate of the link of each site, MPI and placement in MB/s, and who says so."""
    found: dict[tuple[str | None, ...], tuple[float, str]] = {}
    for run in none_for_nulls(side.runs).to_dict("records"):
        if link := _link(run):
            found[run["site"], run["mpi"], run["placement"]] = link
    return found


def _link(run: Mapping[Any, Any]) -> tuple[float, str] | None:
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


def _of_link(row: Mapping[str, Any], link: tuple[float, str] | None) -> dict[str, Any]:
    if link is None:
        return {}
    share = row["peak_MBps"] / link[0] if "peak_MBps" in row else None
    return {"link_MBps": link[0], "link_from": link[1], "share_of_link": share}


def _of_sockets(row: Mapping[str, Any], sockets: Curve | None) -> dict[str, Any]:
    size = row.get("latency_size_bytes")
    if sockets is None or size is None or size not in sockets.size_bytes:
        return {}
    log_time, _ = sockets.at(np.array([size]))
    time = float(np.exp(np.nanmean(log_time)))
    return {"sockets_us": time, "over_sockets": row["latency_us"] / time}
