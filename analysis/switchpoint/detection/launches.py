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

#: A boundary that the other launches of a curve are sure of is in a launch with this probability,
#: before its own data.
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
    steps = [
        boundaries(table, divisions, has_repeats=bool(np.median(error) > 0))
        for table, divisions, (_, error) in zip(tables, _divisions(tables), launches, strict=True)
    ]
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


def _divisions(tables: list[PieceTable]) -> list[Divisions]:
    """Divide each launch, with what the others show as the odds before its own data.

    First each launch is divided by itself. What the data of the others add to the odds of a
    boundary at a place adds up. Others that show nothing there take nothing away, because launches
    may differ.
    """
    sizes = len(tables[0].size)
    rare = min(_BOUNDARIES_A_CURVE / sizes, 0.5)
    alone = np.full(sizes, _log_odds(np.array(rare)))
    divisions = [Divisions(table.evidence, alone) for table in tables]
    if len(tables) == 1:
        return divisions
    added = [_log_odds(np.clip(one.here, 1e-6, 1 - 1e-6)) - alone for one in divisions]
    total = np.sum(added, axis=0)
    found = []
    for table, own in zip(tables, added, strict=True):
        elsewhere = alone + np.maximum(total - own, 0)
        recurs = _RECURS / (1 + np.exp(-elsewhere))
        found.append(Divisions(table.evidence, _log_odds(rare + (1 - rare) * recurs)))
    return found


def _log_odds(probability: Floats) -> Floats:
    return np.asarray(np.log(probability / (1 - probability)))
