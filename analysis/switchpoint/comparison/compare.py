"""Compares sites, MPIs, placements, versions or sessions: which is faster, where, and by how much.

Curves are matched by what they have in common (`matching`), divided into ranges of sizes by the
boundaries of both (`ranges`), and compared launch against launch (`effects`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict

import numpy as np
import pandas as pd

from switchpoint.comparison.effects import (
    OVER_LAUNCHES,
    WITHIN_LAUNCHES,
    Effect,
    compare_times,
    mean_over,
)
from switchpoint.comparison.facts import differing_facts
from switchpoint.comparison.matching import Curve, Pair, Unmatched, curves_of, match
from switchpoint.comparison.pseudonyms import is_pseudonym
from switchpoint.comparison.ranges import Range, known_boundaries, ranges_of
from switchpoint.comparison.sides import Side, select_all
from switchpoint.cores import workers
from switchpoint.data_warnings import DataWarning
from switchpoint.errors import InputError
from switchpoint.tables.columns import Run, records
from switchpoint.tables.measurements import facts_of


class PairOfCurves(TypedDict):
    """Which curves of two sides are compared: their number, letters, and names."""

    pair: int
    first: str
    other: str
    curve: dict[str, str]
    differs: dict[str, list[str | None]]


class Sizes(TypedDict):
    """A range of sizes without a boundary."""

    first_size_bytes: int
    last_size_bytes: int
    sizes: int
    begins: str


class OneSize(TypedDict):
    """A single size."""

    size_bytes: int


class Compared(TypedDict):
    """Two sides at some sizes. Times are typical ones: geometric means."""

    first_us: float
    other_us: float
    ratio: float
    low: float | None
    high: float | None
    interval_over: str
    first_launches: int
    other_launches: int
    faster: str | None


class RangeRow(PairOfCurves, Sizes, Compared):
    """A row of the ranges."""


class SizeRow(PairOfCurves, OneSize, Compared):
    """A row of the sizes."""


class SideRow(TypedDict):
    """What a side consists of."""

    side: str
    selection: str
    site: str | None
    runs: int
    curves: int
    launches: float
    first_date: str | None
    last_date: str | None


class UnmatchedRow(TypedDict):
    """A curve that was not compared."""

    side: str
    other: str
    curve: dict[str, str]
    reason: str


RANGE_COLUMNS = [*RangeRow.__annotations__]
SIZE_COLUMNS = [*SizeRow.__annotations__]

#: Fewer pairs are searched faster than processes start.
_WORTH_A_POOL = 50


@dataclass(frozen=True)
class Comparison:
    """The first side compared with each of the others.

    Attributes
    ----------
    sides : DataFrame
        One row per side: `side` (a letter), `selection`, `site`, `runs`, `curves`, `launches`
        (of a curve, the median), `first_date`, `last_date`.
    ranges : DataFrame
        One row per pair of curves and range of sizes without a boundary: `pair` (a number),
        `first` and `other` (letters), `curve` (identity that both share), `differs` (the values of
        the rest), `first_size_bytes`, `last_size_bytes`, `sizes`; `begins`, the side whose
        boundary is at the start, `both`, or empty; `first_us`, `other_us`; `ratio` of the times,
        other over first, `low` and `high`, its 95 % interval, and what the interval is over;
        `first_launches`, `other_launches`; `faster`, a letter, or null if that is not known.
    sizes : DataFrame
        The same per size.
    unmatched : DataFrame
        Curves that were not compared: `side`, `other`, `curve`, `reason`.
    facts : DataFrame
        `fact`, and for each side its values: what differs between the compared runs.
    warnings : list of DataWarning
    """

    sides: pd.DataFrame
    ranges: pd.DataFrame
    sizes: pd.DataFrame
    unmatched: pd.DataFrame
    facts: pd.DataFrame
    warnings: list[DataWarning] = field(default_factory=list)


def compare(
    *selections: str, store: str | os.PathLike[str] = "results", last: int = 1
) -> Comparison:
    """Compare the first selection with each of the others.

    Parameters
    ----------
    selections
        Two or more: ``site=alpha,mpi=openmpi``, ``run=3f2a``, ``session=...``,
        ``since=2026-11-01,until=2026-11-08``, or a file or folder, with any of these after a
        comma. Selections without files read the store.
    store
        A folder or URL.
    last
        From the store: how many of the newest sessions of each curve, unless a selection names
        runs, a session or times.

    Raises
    ------
    InputError
        If a selection selects nothing, or no curve can be compared.
    """
    if len(selections) < 2:
        raise InputError("compare", "needs two selections or more, such as site=alpha site=beta")
    return compare_sides(select_all(selections, store, last))


def compare_sides(sides: Sequence[Side], findings: pd.DataFrame | None = None) -> Comparison:
    """Compare the first side with each of the others, as `compare` does.

    With findings, as from `detect` of the sides, their boundaries divide the sizes.
    """
    first, *others = sides
    curves = [curves_of(side) for side in sides]
    pairs: list[tuple[Side, Pair]] = []
    unmatched: list[tuple[Side, Unmatched]] = []
    for side, own in zip(others, curves[1:], strict=True):
        found, alone = match(first, side, curves[0], own)
        pairs += [(side, pair) for pair in found]
        unmatched += [(side, one) for one in alone]
    if not pairs:
        without = (f"{side.letter} has no curve" for side, own in zip(sides, curves, strict=True)
                   if not own)  # fmt: skip
        reasons = dict.fromkeys([*without, *(one.reason for _, one in unmatched)])
        raise InputError(
            " and ".join(side.selection.text for side in sides),
            f"no curve can be compared: {next(iter(reasons))}",
        )
    ranges: list[RangeRow] = []
    sizes: list[SizeRow] = []
    divided = _divided([pair for _, pair in pairs], findings)
    for number, (side, pair) in enumerate(pairs):
        names = _told(number, first, side, pair)
        for where, effect in _ranges(first, side, pair, divided[number]):
            ranges.append({**names, **where, **effect})
        for size, effect in _sizes(first, side, pair):
            sizes.append({**names, **size, **effect})
    compared = [_compared_runs(side, pairs) for side in sides]
    return Comparison(
        pd.DataFrame([_described(s, own) for s, own in zip(sides, curves, strict=True)]),
        pd.DataFrame(ranges, columns=RANGE_COLUMNS),
        pd.DataFrame(sizes, columns=SIZE_COLUMNS),
        pd.DataFrame(
            [_unmatched_row(first, side, one) for side, one in unmatched],
            columns=[*UnmatchedRow.__annotations__],
        ),
        differing_facts(sides, compared),
        [*_doubts(sides, compared), *_told_warnings(sides)],
    )


def _divided(pairs: Sequence[Pair], findings: pd.DataFrame | None) -> list[list[Range]]:
    if findings is not None:
        known = known_boundaries(findings)
        return [ranges_of(pair, known) for pair in pairs]
    with workers(worthwhile=len(pairs) >= _WORTH_A_POOL) as apply:
        return list(apply(ranges_of, pairs))


def _told(number: int, first: Side, other: Side, pair: Pair) -> PairOfCurves:
    return {
        "pair": number,
        "first": first.letter,
        "other": other.letter,
        "curve": pair.shared,
        "differs": {name: list(values) for name, values in pair.differs.items()},
    }


def _ranges(
    first: Side, other: Side, pair: Pair, divided: Sequence[Range]
) -> Iterator[tuple[Sizes, Compared]]:
    """Describe the effect in each range of sizes."""
    launches = pair.first.at(pair.size_bytes), pair.other.at(pair.size_bytes)
    whose = {"first": first.letter, "other": other.letter}
    for one in divided:
        means = mean_over(launches[0], one.places), mean_over(launches[1], one.places)
        if any(np.isnan(log_time).all() for log_time, _ in means):
            continue  # no launch measured all sizes: `sizes` has each of them
        sizes = pair.size_bytes[one.places]
        where: Sizes = {
            "first_size_bytes": int(sizes[0]),
            "last_size_bytes": int(sizes[-1]),
            "sizes": len(sizes),
            "begins": whose.get(one.begins, one.begins),
        }
        yield where, _compared(compare_times(*means), means, 0, first, other)


def _sizes(first: Side, other: Side, pair: Pair) -> Iterator[tuple[OneSize, Compared]]:
    """Describe the effect at each size."""
    launches = pair.first.at(pair.size_bytes), pair.other.at(pair.size_bytes)
    effect = compare_times(*launches)
    for place, size in enumerate(pair.size_bytes.tolist()):
        yield {"size_bytes": size}, _compared(effect, launches, place, first, other)


def _compared(
    effect: Effect, launches: Sequence[tuple[Any, Any]], place: int, first: Side, other: Side
) -> Compared:
    times = [np.exp(np.nanmean(log_time[:, place])) for log_time, _ in launches]
    counts = [int((~np.isnan(log_time[:, place])).sum()) for log_time, _ in launches]
    return {
        "first_us": float(times[0]),
        "other_us": float(times[1]),
        "ratio": float(effect.ratio[place]),
        "low": float(effect.low[place]),
        "high": float(effect.high[place]),
        "interval_over": OVER_LAUNCHES if effect.over_launches[place] else WITHIN_LAUNCHES,
        "first_launches": counts[0],
        "other_launches": counts[1],
        "faster": {-1: first.letter, 0: None, 1: other.letter}[int(effect.faster[place])],
    }


def _compared_runs(side: Side, pairs: Sequence[tuple[Side, Pair]]) -> set[str]:
    """Return the runs of a side that were compared with any other."""
    curves = [
        pair.other if other is side else pair.first
        for other, pair in pairs
        if other is side or side.letter == "A"
    ]
    return {run for curve in curves for run in curve.run_ids}


def _described(side: Side, curves: Sequence[Curve]) -> SideRow:
    runs = side.runs
    dates = runs["date"].dropna()
    return {
        "side": side.letter,
        "selection": side.selection.text,
        "site": ", ".join(sorted(runs["site"].dropna().unique())) or None,
        "runs": len(runs),
        "curves": len(curves),
        "launches": float(np.median([len(curve.run_ids) for curve in curves])),
        "first_date": dates.min() if len(dates) else None,
        "last_date": dates.max() if len(dates) else None,
    }


def _unmatched_row(first: Side, other: Side, one: Unmatched) -> UnmatchedRow:
    missing_from = other.letter if one.letter == first.letter else first.letter
    curve = {name: value for name, value in one.identity.items() if value is not None}
    return {"side": one.letter, "other": missing_from, "curve": curve, "reason": one.reason}


def _told_warnings(sides: Sequence[Side]) -> list[DataWarning]:
    return list(dict.fromkeys(warning for side in sides for warning in side.warnings))


def _doubts(sides: Sequence[Side], compared: Sequence[set[str]]) -> Iterator[DataWarning]:
    """Say what the names of the sites may hide: one name for two sites."""
    machines = [_machines(side, ids) for side, ids in zip(sides, compared, strict=True)]
    for number, (side, own) in enumerate(zip(sides, machines, strict=True)):
        for other, theirs in zip(sides[:number], machines[:number], strict=True):
            for site in sorted(own.keys() & theirs.keys()):
                if own[site].differs_from(theirs[site]):
                    yield DataWarning(
                        "same_site",
                        f"{other.letter} and {side.letter} both name the site '{site}', but have"
                        " other clusters, or other hosts and CPUs: they may be two sites with one"
                        " name",
                    )


@dataclass
class _Machines:
    """What records say of the machines of one site."""

    clusters: set[str] = field(default_factory=set)
    hosts: set[str] = field(default_factory=set)
    cpus: set[str] = field(default_factory=set)

    def differs_from(self, other: _Machines) -> bool:
        if self.clusters and other.clusters:
            return not self.clusters & other.clusters
        known = self.cpus and other.cpus
        return bool(known) and not self.cpus & other.cpus and not self.hosts & other.hosts


def _machines(side: Side, run_ids: set[str]) -> dict[str, _Machines]:
    """Return the machines of each site of a side, as far as its records name them."""
    found: dict[str, _Machines] = {}
    for run in records(side.runs[side.runs["run_id"].isin(run_ids)], Run):
        header, _ = facts_of(run)
        if not header or run["site"] is None:
            continue
        machines = found.setdefault(run["site"], _Machines())
        machines.clusters |= (
            {str(cluster)} if (cluster := header.get("slurm", {}).get("cluster")) else set()
        )
        for rank in header["ranks"]:
            machines.cpus |= {*filter(None, [rank.get("cpu_model")])}
            machines.hosts |= set() if is_pseudonym(rank["host"]) else {rank["host"]}
    return found
