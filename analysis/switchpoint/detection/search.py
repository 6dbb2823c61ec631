"""Searches every curve for anomalies, many curves at once, and compares curves with each other."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import asdict

import numpy as np
import numpy.typing as npt
import pandas as pd

from switchpoint.cores import workers
from switchpoint.detection.bursts import noise_bursts
from switchpoint.detection.guidelines import guideline_violations
from switchpoint.detection.inversions import inversions
from switchpoint.detection.launches import detect_launches
from switchpoint.detection.recurrence import add_chances
from switchpoint.records.run_facts import During, conditions
from switchpoint.tables.columns import identity_columns
from switchpoint.tables.curves import compare_passes, summarise_passes, summary_of, with_levels
from switchpoint.tables.findings import ANOMALY_COLUMNS, Anomaly, Evidence
from switchpoint.tables.identity import CurveIdentity
from switchpoint.tables.measurements import Measurements, sweeps_of
from switchpoint.tables.sweeps import Floats, Indices, Sweeps
from switchpoint.tables.visits import States

#: The number of curves that are searched at once, and the number from which processes are started.
CURVES_AT_ONCE = 100
WORTH_A_POOL = 600

#: The most launches of one curve that are searched together. More need memory and add little.
LAUNCHES_TOGETHER = 10

#: What visits in states leave open if too few of them distinguish the states.
_STATES = (
    "some visits of each size are slow as a whole, and the passes are too few to distinguish them"
    " from a slow size; measure again with twice as many passes"
)


def find_anomalies(
    source: Measurements | pd.DataFrame, progress: Callable[[], object] = lambda: None
) -> pd.DataFrame:
    """Find what timing shows in every curve and between curves; it names no cause.

    Parameters
    ----------
    source
        Measurements or their samples table.
    progress
        Called after each curve.

    Returns
    -------
    DataFrame
        One row per finding: the curve's identity columns and `ANOMALY_COLUMNS`, as from
        `switchpoint.detect`, which adds suspects and origins.
    """
    sweeps = sweeps_of(source)
    tables, order, rows = _search_all(sweeps, progress)
    identity = sweeps.identity
    if isinstance(source, Measurements):
        _add_conditions(source, rows)
        if tables and source.summary is None:
            summary_of(source, _in_order(tables, order))
        if len(source.points):
            tables.append(source.points)
            rows += _search_points(source.points)
            identity = [*identity, *identity_columns(source.points)]
    if tables:
        points = pd.concat(tables, ignore_index=True)
        rows += inversions(points)
        rows += guideline_violations(points, _ranks_of(source))
        add_chances(rows, _spans(points))
    return pd.DataFrame(rows, columns=[*dict.fromkeys(identity), *ANOMALY_COLUMNS])


def _in_order(tables: list[pd.DataFrame], order: Indices) -> pd.DataFrame:
    """Join the points of parts in the order of the curves, as `summarise` returns them."""
    if len(tables) == 1:
        return tables[0]
    return pd.concat(tables, ignore_index=True).iloc[order].reset_index(drop=True)


def _spans(points: pd.DataFrame) -> pd.DataFrame:
    """Return the identity of every curve, with its smallest and largest size."""
    names = identity_columns(points)
    if not names:
        return points["size_bytes"].agg(low="min", high="max").to_frame().T
    sizes = points.groupby(names, dropna=False, observed=True)["size_bytes"]
    return sizes.agg(low="min", high="max").reset_index()


def find_in_curves(source: Measurements | pd.DataFrame) -> pd.DataFrame:
    """Find what timing shows within each curve; as `find_anomalies`, but compare no curves."""
    sweeps = sweeps_of(source)
    _, _, rows = _search_all(sweeps, lambda: None)
    return pd.DataFrame(rows, columns=[*sweeps.identity, *ANOMALY_COLUMNS])


def _search_all(
    sweeps: Sweeps, progress: Callable[[], object]
) -> tuple[list[pd.DataFrame], Indices, list[Anomaly]]:
    """Return the points of all curves, how to sort them, and what each curve shows."""
    tables: list[pd.DataFrame] = []
    rows: list[Anomaly] = []
    sizes: list[Indices] = []
    part = _part_of_curve(sweeps)
    with workers(worthwhile=len(sweeps.curves) >= WORTH_A_POOL) as apply:
        for table, found, of_curves in apply(_search, _parts(sweeps, part)):
            tables.append(table)
            rows += found
            sizes.append(of_curves)
            for _ in of_curves:
                progress()
    points_of = np.concatenate(sizes) if sizes else np.empty(0, dtype=np.intp)
    curve = np.repeat(np.argsort(part, kind="stable"), points_of)
    return tables, np.argsort(curve, kind="stable"), rows


def _part_of_curve(sweeps: Sweeps) -> Indices:
    """Number parts of about `CURVES_AT_ONCE` curves. Launches that are cut together stay so."""
    same = sweeps.same_but_for_the_run()
    order = np.argsort(same, kind="stable")
    number = np.arange(len(order))
    launch = number - np.searchsorted(same[order], same[order])
    may_split = _begins_group(launch, np.bincount(same)[same[order]])
    part_of_curve = np.empty_like(order)
    part_of_curve[order] = np.maximum.accumulate(np.where(may_split, number // CURVES_AT_ONCE, 0))
    return part_of_curve


def _parts(sweeps: Sweeps, part_of_curve: Indices) -> Iterator[Sweeps]:
    """Split the samples into the parts of their curves."""
    part = part_of_curve[sweeps.curve]
    by_part = np.argsort(part, kind="stable")
    for rows in np.split(by_part, np.cumsum(np.bincount(part))[:-1]):
        if len(rows):
            yield sweeps.take(rows)


def _begins_group(launch: Indices, launches: Indices) -> npt.NDArray[np.bool_]:
    """Return which launches begin a group of `_divided_evenly`, by number and count of launches."""
    shorter, longer = np.divmod(launches, -(-launches // LAUNCHES_TOGETHER))
    in_longer = launch < longer * (shorter + 1)
    return np.asarray(np.where(in_longer, launch % (shorter + 1), (launch - longer) % shorter) == 0)


def _divided_evenly(launches: list[int]) -> list[list[int]]:
    """Divide launches into as few groups as possible, none much smaller than another.

    The last launches would otherwise be searched with few others, or alone.
    """
    groups = -(-len(launches) // LAUNCHES_TOGETHER)
    return [part.tolist() for part in np.array_split(np.array(launches), groups)]


def _search(sweeps: Sweeps) -> tuple[pd.DataFrame, list[Anomaly], Indices]:
    """Summarise some curves and find what each shows, alone or with its launches.

    Returned with how many sizes each curve has.
    """
    passes = compare_passes(sweeps)
    table = summarise_passes(sweeps, passes)
    identities = sweeps.identities()
    states = passes.visits.states
    rows = [
        _of_curve(identities[curve], finding, states.get(curve))
        for curves, size, launches in _families(
            sweeps, with_levels(table, passes), passes.point_curve
        )
        for curve, found in zip(curves, detect_launches(size, launches), strict=True)
        for finding in found
    ]
    return table, rows + noise_bursts(sweeps, passes), np.bincount(passes.point_curve)


def _of_curve(identity: CurveIdentity, finding: Anomaly, states: States | None) -> Anomaly:
    """Add to a finding its curve, and the states of its visits with what they leave open."""
    if states is None:
        return {**identity, **finding}
    evidence: Evidence = {"states": asdict(states), **finding["evidence"]}
    if not states.distinguished:
        evidence.setdefault("caveat", _STATES)
    return {**identity, **finding, "evidence": evidence}


def _search_points(points: pd.DataFrame) -> list[Anomaly]:
    """Find what curves show whose samples are not there: boundaries and outliers."""
    names = identity_columns(points)
    table = points.sort_values([*names, "size_bytes"], ignore_index=True)
    curve = table.groupby(names, dropna=False, observed=True, sort=False).ngroup().to_numpy()
    first = np.flatnonzero(np.diff(curve, prepend=-1))
    curves = table[names].iloc[first].reset_index(drop=True)
    nothing = np.empty(0)
    sweeps = Sweeps(curves, nothing.astype(int), nothing.astype(int), nothing.astype(int), nothing)
    identities = sweeps.identities()
    return [
        {**identities[member], **finding}
        for members, size, launches in _families(sweeps, table, curve)
        for member, found in zip(members, detect_launches(size, launches), strict=True)
        for finding in found
    ]


def _families(
    sweeps: Sweeps, table: pd.DataFrame, point_curve: Indices
) -> Iterator[tuple[list[int], Floats, list[tuple[Floats, Floats]]]]:
    """Yield launches of one curve at the same sizes: the curves, sizes, times with their errors."""
    size = table["size_bytes"].to_numpy(dtype=float)
    time = table["time_us"].to_numpy(dtype=float)
    error = table["error_us"].to_numpy(dtype=float) / time
    edges = np.searchsorted(point_curve, np.arange(len(sweeps.curves) + 1))
    # An operation on 0 bytes does other work than one on some, or none: no boundary begins there.
    points = [
        slice(first + int(first < end and size[first] == 0), end)
        for first, end in itertools.pairwise(edges)
    ]
    families: dict[tuple[int, bytes], list[int]] = {}
    for curve, same in enumerate(sweeps.same_but_for_the_run()):
        families.setdefault((int(same), size[points[curve]].tobytes()), []).append(curve)
    for members in families.values():
        for some in _divided_evenly(members):
            launches = [(time[points[curve]], error[points[curve]]) for curve in some]
            yield some, size[points[some[0]]], launches


def _ranks_of(source: Measurements | pd.DataFrame) -> Callable[[str], int | None]:
    """Return how to look up the ranks of a run; only a run record names them."""
    if not isinstance(source, Measurements):
        return lambda run_id: None
    return lambda run_id: len(source.facts(run_id)[0].get("ranks", [])) or None


def _add_conditions(measurements: Measurements, rows: list[Anomaly]) -> None:
    """Add to each noise burst what else the machine did during its run."""
    during: dict[str, During] = {}
    for row in rows:
        if row["kind"] == "noise_burst":
            run_id = row["run_id"]
            if run_id not in during:
                during[run_id] = conditions(*measurements.facts(run_id))
            row["evidence"] = {**row["evidence"], **during[run_id]}
