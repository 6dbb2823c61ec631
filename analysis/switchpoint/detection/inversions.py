"""Finds where one curve is slower than another that should not be faster.

A nearer placement slower than a farther one (`placement_inversion`), `ssend` faster than `send`
(`mode_inversion`), and two directions that differ (`asymmetry`).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pandas as pd

from switchpoint.tables.columns import identity_columns
from switchpoint.tables.findings import Anomaly
from switchpoint.tables.identity import CurveIdentity
from switchpoint.tables.sweeps import Floats, Indices

#: Placements, nearest first.
NEARNESS = ["one_node", "one_node_network", "two_nodes_one_host", "two_nodes_two_hosts"]

#: Pairs of modes. The first cannot be faster, because it also waits for the receiver.
SLOWER_MODES = {"ssend": "send", "sstream": "stream"}

#: Pairs of columns that name a direction, if a table has them.
DIRECTIONS = [("from", "to"), ("source", "target"), ("sender", "receiver")]

#: Smaller relative differences and shorter ranges of sizes are not reported.
SMALLEST = 0.05
FEWEST_SIZES = 3

#: A size counts if the difference is at least this many standard errors.
_ERRORS = 2.0

#: Relative standard deviation of a curve from launch to launch of the same job, without a cause.
#: `bench/detection/calibrate.py` prints it.
LAUNCH_SCATTER = 0.19


def inversions(curves: pd.DataFrame) -> list[Anomaly]:
    """Compare curves that differ in one thing only.

    Parameters
    ----------
    curves
        As from `summarise`.

    Returns
    -------
    list of dict
        Findings with the identity of the slower curve; `evidence` names the `other` by what
        differs, and the range of sizes.
    """
    identity = identity_columns(curves)
    whose, points = _by_curve(curves, identity)
    found: list[Anomaly] = []
    for kind, slow, fast, differs in _pairs(whose, identity):
        for finding in _slower_stretches(kind, points[slow], points[fast]):
            named = {name: whose[name].iloc[slow] for name in identity}
            finding["evidence"]["other"] = {name: whose[name].iloc[fast] for name in differs}
            found.append({**cast("CurveIdentity", named), **finding})
    return found


@dataclass(frozen=True)
class _Points:
    """The points of a curve, ordered by size."""

    size: Indices
    time: Floats
    error: Floats


def _by_curve(curves: pd.DataFrame, identity: list[str]) -> tuple[pd.DataFrame, list[_Points]]:
    """Return the identity of each curve, in the order of the table, and its points."""
    if not identity:
        number = np.zeros(len(curves), dtype=int)
    else:
        by_identity = curves.groupby(identity, dropna=False, observed=True, sort=False)
        number = by_identity.ngroup().to_numpy()
    order = np.lexsort((curves["size_bytes"].to_numpy(), number))
    values = [curves[name].to_numpy()[order] for name in ("size_bytes", "time_us", "error_us")]
    edges = np.searchsorted(number[order], np.arange(number.max(initial=-1) + 2))
    parts = [slice(*pair) for pair in itertools.pairwise(edges.tolist())]
    _, first = np.unique(number, return_index=True)
    whose = curves[identity].iloc[first].reset_index(drop=True)
    return whose, [_Points(*(column[part] for column in values)) for part in parts]


def _pairs(whose: pd.DataFrame, identity: list[str]) -> Iterator[tuple[str, int, int, list[str]]]:
    """Yield pairs: kind, the curve that should not be slower, the other, what differs."""
    yield from _by_column(whose, identity, "placement", "placement_inversion", NEARNESS)
    for slower, faster in SLOWER_MODES.items():
        yield from _by_column(whose, identity, "mode", "mode_inversion", [faster, slower])
    for source, target in DIRECTIONS:
        if {source, target} <= set(identity):
            yield from _by_direction(whose, identity, source, target)


def _by_column(
    whose: pd.DataFrame, identity: list[str], column: str, kind: str, order: list[str]
) -> Iterator[tuple[str, int, int, list[str]]]:
    """Yield pairs of curves that differ only in a column, the earlier in the order first.

    Placements are different runs; modes are compared within a run.
    """
    if column not in identity:
        return
    passing = {column, "run_id"} if column == "placement" else {column}
    differs = [name for name in identity if name in passing]
    values = whose[column].astype(object).to_numpy()
    among = whose[whose[column].isin(order)]
    for group in _groups(among, [name for name in identity if name not in passing]):
        parts: dict[str, list[int]] = {}
        for curve in group:
            parts.setdefault(str(values[curve]), []).append(curve)
        for first, second in itertools.combinations([name for name in order if name in parts], 2):
            for slow, fast in itertools.product(parts[first], parts[second]):
                yield kind, slow, fast, differs


def _by_direction(
    whose: pd.DataFrame, identity: list[str], source: str, target: str
) -> Iterator[tuple[str, int, int, list[str]]]:
    """Yield pairs of curves between the same two ends, in both orders."""
    alike = [name for name in identity if name not in {source, target, "run_id"}]
    ends = [*zip(*(whose[name].astype(object) for name in (source, target)), strict=True)]
    for group in _groups(whose, alike):
        ways: dict[tuple[Any, Any], list[int]] = {}
        for curve in group:
            if not any(pd.isna(end) for end in ends[curve]):
                ways.setdefault(ends[curve], []).append(curve)
        for (one, other), own in sorted(ways.items(), key=lambda way: str(way[0])):
            if (other, one) in ways and one != other:
                for slow, fast in itertools.product(own, ways[other, one]):
                    yield "asymmetry", slow, fast, [source, target]


def _groups(whose: pd.DataFrame, names: list[str]) -> Iterator[list[int]]:
    """Yield the curves that agree in some columns."""
    if not names:
        yield whose.index.tolist()
        return
    number = whose.groupby(names, dropna=False, observed=True, sort=False).ngroup()
    groups: dict[int, list[int]] = {}
    for curve, group in zip(whose.index.tolist(), number.tolist(), strict=True):
        groups.setdefault(group, []).append(curve)
    yield from groups.values()


def _slower_stretches(kind: str, slow: _Points, fast: _Points) -> Iterator[Anomaly]:
    """Describe each range of common sizes at which the first curve is slower than the second."""
    scatter = 0.0 if kind == "mode_inversion" else LAUNCH_SCATTER
    size, one, other = np.intersect1d(slow.size, fast.size, assume_unique=True, return_indices=True)
    positive = size > 0
    size, one, other = size[positive], one[positive], other[positive]
    if len(size) < FEWEST_SIZES:
        return
    ratio = slow.time[one] / fast.time[other] - 1
    own = np.hypot(slow.error[one] / slow.time[one], fast.error[other] / fast.time[other])
    counts = (ratio >= SMALLEST) & (np.log1p(ratio) >= _ERRORS * own)
    edges = np.flatnonzero(np.diff(counts, prepend=False, append=False))
    for first, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        if end - first < FEWEST_SIZES:
            continue
        typical = float(np.median(ratio[first:end]))
        # Sizes of one launch deviate together, so their number does not reduce this scatter.
        error = math.hypot(
            float(np.median(own[first:end])) / math.sqrt(end - first), scatter * 2**0.5
        )
        confidence = math.erf(math.log1p(typical) / max(error, 1e-3) / 2**0.5)
        yield {
            "kind": kind,
            "size_bytes": int(size[first]),
            "last_size_before": int(size[first - 1]) if first else 0,
            "magnitude": typical,
            "confidence": confidence,
            "evidence": {
                "first_size_bytes": int(size[first]),
                "last_size_bytes": int(size[end - 1]),
                "sizes": end - first,
                "largest": float(ratio[first:end].max()),
                "launch_scatter": scatter,
            },
        }
