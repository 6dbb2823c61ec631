"""Weak and strong scaling of simulated runs: time and efficiency over the number of ranks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from switchpoint.models.simgrid import LINKS_OF
from switchpoint.records.rank_layout import layout_of
from switchpoint.tables.columns import Run, records
from switchpoint.tables.measurements import Measurements
from switchpoint.tables.units import size_text

#: What distinguishes the series of a kernel.
SERIES = ["site", "topology", "placement", "links_of", "kernel", "mode", "moved"]

SCALING_COLUMNS = ["scaling", *SERIES, "ranks", "size_bytes", "time_us", "efficiency"]

WEAK, STRONG = "weak", "strong"

_EXCHANGE = "alltoall"


def scaling(measurements: Measurements) -> pd.DataFrame:
    """Return the simulated points whose work stays the same for each rank, or altogether.

    Parameters
    ----------
    measurements
        A run is simulated if it has the label `LINKS_OF`. Runs with several ranks on a host, as the
        check `SimulatedTwin` may have, are on another network and do not count. Of several
        simulations of a point the last one counts.

    Returns
    -------
    DataFrame
        `SCALING_COLUMNS`, by series with at least two numbers of ranks. In weak scaling each rank
        of an exchange sends as many bytes altogether, and each rank of a broadcast receives as
        many. In strong scaling all ranks of an exchange together send as many. `moved` names these
        bytes. `efficiency` is relative to the fewest ranks of the series: the ideal is 1.
    """
    points = _points(measurements)
    tables = [_of_kind(points, kind) for kind in (WEAK, STRONG)]
    filled = [table for table in tables if len(table)]
    if not filled:
        return pd.DataFrame(columns=SCALING_COLUMNS)
    return pd.concat(filled, ignore_index=True)[SCALING_COLUMNS]


def _points(measurements: Measurements) -> pd.DataFrame:
    """Return the time of each simulated point, by what distinguishes series and ranks."""
    samples = measurements.samples
    columns = [*SERIES[:-1], "ranks", "size_bytes", "time_us"]
    if LINKS_OF not in samples:
        return pd.DataFrame(columns=columns)
    samples = samples[samples[LINKS_OF].notna()]
    medians = samples.groupby(["run_id", "mode", "size_bytes"], observed=True)["time_us"].median()
    table = medians.reset_index()
    facts = pd.DataFrame(_facts(measurements, set(table["run_id"])))
    if table.empty or facts.empty:
        return pd.DataFrame(columns=columns)
    joined = facts.merge(table, on="run_id")  # in the order of the facts
    return joined.drop_duplicates([*SERIES[:-1], "ranks", "size_bytes"], keep="last")[columns]


def _facts(measurements: Measurements, wanted: set[Any]) -> Iterator[dict[str, Any]]:
    """Yield what is known of each run, the oldest first."""
    runs = measurements.runs.sort_values("start_utc", kind="stable")
    for run in records(runs[runs["run_id"].isin(wanted)], Run):
        header, _ = measurements.facts(run["run_id"])
        labels = header.get("labels", {})
        nodes = layout_of(header).nodes
        if nodes and len(set(nodes)) == len(nodes):
            yield {
                "run_id": run["run_id"], "site": run["site"], "placement": run["placement"],
                "kernel": run["kernel"], "links_of": labels.get(LINKS_OF),
                "topology": labels.get("topology"), "ranks": len(nodes),
            }  # fmt: skip


def _of_kind(points: pd.DataFrame, kind: str) -> pd.DataFrame:
    """Return the series of one kind, with their efficiency."""
    exchange = points["kernel"] == _EXCHANGE
    ranks, size = points["ranks"], points["size_bytes"]
    if kind == STRONG:
        points = points[exchange]
        moved = (size * ranks**2)[exchange].map(lambda moved: f"{size_text(moved)} altogether")
    else:
        each = size.where(~exchange, size * ranks)
        moved = each.map(lambda moved: f"{size_text(moved)} a rank")
    table = points.assign(scaling=kind, moved=moved).sort_values("ranks", kind="stable")
    groups = table.groupby(SERIES, dropna=False, sort=True)
    table = table[groups["ranks"].transform("nunique") > 1]
    if table.empty:
        return table
    first = table.groupby(SERIES, dropna=False)[["ranks", "time_us"]].transform("first")
    work = 1.0 if kind == WEAK else first["ranks"] / table["ranks"]
    table = table.assign(efficiency=work * first["time_us"] / table["time_us"])
    return table.sort_values([*SERIES, "ranks"], kind="stable", na_position="first")
