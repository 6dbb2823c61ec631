"""Divides the sizes of two curves into ranges by the boundaries of both."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from switchpoint.comparison.matching import Curve, Pair
from switchpoint.detection.launches import FEWEST_SIZES, detect_launches
from switchpoint.detection.search import LAUNCHES_TOGETHER
from switchpoint.tables.columns import identity_columns, records, values_of
from switchpoint.tables.findings import BOUNDARIES, Anomaly
from switchpoint.tables.sweeps import Floats, Indices

#: A boundary counts if this share of a side's launches shows it with at least this confidence.
_ENOUGH_LAUNCHES = 0.5
_LEAST_CONFIDENCE = 0.5


@dataclass(frozen=True)
class Range:
    """Neighbouring sizes without a boundary between them.

    Attributes
    ----------
    places : array of int
        Into the sizes of the pair. Sizes that not all compared launches have are left out.
    begins : str
        Whose boundary is at its start: `both`, `first`, `other`, or empty for the smallest size.
    """

    places: Indices
    begins: str


#: The boundaries that are known of each launch of each curve.
Known = Mapping[tuple[str, ...], Sequence[Anomaly]]


def ranges_of(pair: Pair, known: Known | None = None) -> list[Range]:
    """Divide the common sizes of a pair; all launches of both sides are searched together.

    Launches may have other sizes, such as a sweep and a closer look at one place. What counts are
    the sizes that the launches with most of them have. With `known`, from `known_boundaries`,
    nothing is searched.
    """
    common = np.flatnonzero(_most(pair.first, pair) & _most(pair.other, pair))
    sizes = pair.size_bytes[common]
    complete = [(side, curve, launch) for side, curve in enumerate((pair.first, pair.other))
                for launch in _complete(curve, sizes)]  # fmt: skip
    owner = [side for side, _, _ in complete]
    if len(sizes) < FEWEST_SIZES or not complete:
        return [Range(common, "")] if len(common) else []
    if known is not None:
        found: Sequence[Sequence[Anomaly]] = [
            known.get(_key(curve.identity, curve.run_ids[launch]), [])
            for _, curve, launch in complete
        ]
    else:
        found = detect_launches(
            sizes.astype(float), [_times(curve, sizes, launch) for _, curve, launch in complete]
        )
    brackets = [
        (finding["last_size_before"], finding["size_bytes"], side, launch)
        for launch, (side, findings) in enumerate(zip(owner, found, strict=True))
        for finding in findings
        if finding["kind"] in BOUNDARIES and finding["confidence"] >= _LEAST_CONFIDENCE
    ]
    counts = [owner.count(0), owner.count(1)]
    starts = {0: ""}
    for first_size, sides in _edges(brackets, counts):
        starts[int(np.searchsorted(sizes, first_size))] = sides
    ends = [*list(starts)[1:], len(sizes)]
    return [
        Range(common[start:end], begins)
        for (start, begins), end in zip(starts.items(), ends, strict=True)
    ]


def _most(curve: Curve, pair: Pair) -> npt.NDArray[np.bool_]:
    """Return which sizes of a pair the launch of a curve with most of them has."""
    measured = ~np.isnan(curve.at(pair.size_bytes)[0])
    return np.asarray(measured[measured.sum(axis=1).argmax()])


def _complete(curve: Curve, sizes: Indices) -> list[int]:
    """Return some launches that measured all these sizes."""
    log_time, _ = curve.at(sizes)
    whole = np.flatnonzero(~np.isnan(log_time).any(axis=1))[: LAUNCHES_TOGETHER // 2]
    return [int(launch) for launch in whole]


def _times(curve: Curve, sizes: Indices, launch: int) -> tuple[Floats, Floats]:
    log_time, error = curve.at(sizes)
    return np.exp(log_time[launch]), error[launch]


def known_boundaries(findings: pd.DataFrame) -> Known:
    """Return the boundaries among findings, as from `detect`, by curve and launch."""
    names = [name for name in identity_columns(findings) if name != "run_id"]
    found: dict[tuple[str, ...], list[Anomaly]] = {}
    for row in records(findings[findings["kind"].isin(BOUNDARIES)], Anomaly):
        identity = dict(zip(names, values_of(row, names), strict=True))
        real: Anomaly = {**row, "confidence": row["evidence"]["real"]}
        found.setdefault(_key(identity, row["run_id"]), []).append(real)
    return found


def _key(identity: Mapping[Any, Any], run_id: str) -> tuple[str, ...]:
    named = sorted((name, value) for name, value in identity.items() if isinstance(value, str))
    return (run_id, *(word for pair in named for word in pair))


def _edges(brackets: list[tuple[int, int, int, int]], counts: list[int]) -> list[tuple[int, str]]:
    """Join overlapping brackets, and keep those that enough launches of a side show.

    Returns
    -------
    list of (first size after the boundary, whose it is), by size
    """
    groups: list[list[tuple[int, int, int, int]]] = []
    reach = -1
    for bracket in sorted(brackets):
        if bracket[0] >= reach:
            groups.append([])
            reach = bracket[1]
        groups[-1].append(bracket)
        reach = min(reach, bracket[1])  # the narrowest decides where the group ends
    edges = []
    for group in groups:
        shown = [len({launch for *_, side, launch in group if side == own}) for own in (0, 1)]
        enough = [
            count > 0 and count >= math.ceil(_ENOUGH_LAUNCHES * all_of_side)
            for count, all_of_side in zip(shown, counts, strict=True)
        ]
        if any(enough):
            words = "both" if all(enough) else ("first", "other")[enough.index(True)]
            edges.append((min(bracket[1] for bracket in group), words))
    return edges
