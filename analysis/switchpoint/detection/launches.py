"""Searches the launches of one curve together: they share where their boundaries are."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import numpy as np

from switchpoint.detection.boundaries import boundaries
from switchpoint.detection.divisions import Divisions
from switchpoint.detection.noise import point_noise
from switchpoint.detection.outliers import outliers
from switchpoint.detection.segments import PieceTable
from switchpoint.tables.sweeps import Floats

#: A curve of fewer sizes is not searched.
FEWEST_SIZES = 6

#: Before the data, a curve has this many boundaries on average, anywhere with the same probability.
#: So few that noise alone, of 1 to 20 % over 20 to 200 sizes, shows a finding in at most 3 curves
#: of 100.
_BOUNDARIES_A_CURVE = 0.5

#: A boundary that all launches of a curve show together is in each of them with this probability,
#: before the launch's own data.
_RECURS = 0.5


def detect_launches(
    size: Floats, launches: list[tuple[Floats, Floats]]
) -> list[list[dict[str, Any]]]:
    """Find steps and changes of slope in each of several launches of one curve.

    Launches share the places of their boundaries, not their size. A boundary in all of them
    together needs less evidence in each. A launch that shows nothing there gets no boundary.

    Parameters
    ----------
    size : array of float, shape (n,)
        Bytes, ascending, each once.
    launches : list of (time, standard_error), each an array of float, shape (n,)
        Median time in microseconds; its relative standard error.

    Returns
    -------
    list of list of dict
        Of each launch `ANOMALY_COLUMNS`, by size: boundaries and outliers.
    """
    if len(size) < FEWEST_SIZES:
        return [[] for _ in launches]
    noises = [point_noise(size, time, error) for time, error in launches]
    tables = [
        PieceTable(size, time, noise)
        for (time, _), (noise, _, _) in zip(launches, noises, strict=True)
    ]
    odds = _odds(tables)
    steps = [boundaries(table, Divisions(table.evidence, odds)) for table in tables]
    shown = Counter(finding["size_bytes"] for one in steps for finding in one)
    for finding in itertools.chain(*steps):
        finding["evidence"]["launches"] = shown[finding["size_bytes"]]
    return [
        sorted(
            found + outliers(size, change, errors, float(np.median(noise))),
            key=lambda finding: int(finding["size_bytes"]),
        )
        for found, (noise, change, errors) in zip(steps, noises, strict=True)
    ]


def _odds(tables: list[PieceTable]) -> Floats:
    """Return the logarithm of the odds of a boundary before each size, before a launch's own data.

    First all launches are divided at the same places, where each has its own lines. A place that
    is probable then is probable in each launch from the outset.
    """
    sizes = len(tables[0].size)
    rare = min(_BOUNDARIES_A_CURVE / sizes, 0.5)
    odds = np.full(sizes, np.log(rare / (1 - rare)))
    if len(tables) == 1:
        return odds
    together = Divisions(np.sum([table.evidence for table in tables], axis=0), odds)
    shared = rare + (_RECURS - rare) * np.clip(together.here, 0, 1)
    return np.asarray(np.log(shared / (1 - shared)))
