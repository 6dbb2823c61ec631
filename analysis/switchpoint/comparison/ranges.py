"""Divides the sizes of two curves into ranges by the boundaries of both."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from switchpoint.comparison.matching import Curve, Pair
from switchpoint.detection.launches import FEWEST_SIZES, detect_launches
from switchpoint.detection.search import LAUNCHES_TOGETHER
from switchpoint.tables.findings import BOUNDARIES
from switchpoint.tables.sweeps import Floats, Indices

#: A boundary counts if this share of a side's launches shows it with at least this confidence.
_ENOUGH_LAUNCHES = 0.5
_LEAST_CONFIDENCE = 0.5


@dataclass(frozen=True)
class Range:
    """Neighbouring sizes without a boundary between them.

    Attributes
    ----------
    places : slice
        Into the sizes of the pair.
    begins : str
        Whose boundary is at its start: `both`, `first`, `other`, or empty for the smallest size.
    """

    places: slice
    begins: str


def ranges_of(pair: Pair) -> list[Range]:
    """Divide the common sizes of a pair; all launches of both sides are searched together."""
    sizes = pair.size_bytes
    launches, owner = [], []
    for side, curve in enumerate((pair.first, pair.other)):
        for launch in _complete(curve, sizes):
            launches.append(launch)
            owner.append(side)
    if len(sizes) < FEWEST_SIZES or not launches:
        return [Range(slice(0, len(sizes)), "")]
    found = detect_launches(sizes.astype(float), launches)
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
        Range(slice(start, end), begins)
        for (start, begins), end in zip(starts.items(), ends, strict=True)
    ]


def _complete(curve: Curve, sizes: Indices) -> list[tuple[Floats, Floats]]:
    """Return times and errors of some launches that measured all these sizes."""
    log_time, error = curve.at(sizes)
    whole = np.flatnonzero(~np.isnan(log_time).any(axis=1))[: LAUNCHES_TOGETHER // 2]
    return [(np.exp(log_time[launch]), error[launch]) for launch in whole]


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
