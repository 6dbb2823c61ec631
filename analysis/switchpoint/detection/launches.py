"""Searches the launches of one curve together: they share where their boundaries are."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import numpy as np

from switchpoint.detection.boundaries import boundaries
from switchpoint.detection.noise import point_noise
from switchpoint.detection.outliers import outliers
from switchpoint.detection.segments import PieceTable, cut
from switchpoint.tables.sweeps import Floats

#: A curve of fewer sizes is not searched.
FEWEST_SIZES = 6

#: What one more piece costs grows with the number of sizes as in an information criterion; so much
#: that noise alone, of 1 to 20 % over 20 to 200 sizes with five repeats, shows something in at most
#: 3 curves of 100.
_PENALTY_PER_LOG = 4.2
_LEAST_PENALTY = 14.0

#: Of that, so much is the price of its line; the rest is that of its place, which several launches
#: of a curve pay together.
_SHARE_OF_LINE = 0.5


def detect_launches(
    size: Floats, launches: list[tuple[Floats, Floats]]
) -> list[list[dict[str, Any]]]:
    """Find steps and changes of slope in each of several launches of one curve.

    Launches share where their boundaries are, not how large they are. What looks like a boundary
    in all of them together needs less evidence in each; a launch that shows nothing there gets
    none.

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
    penalty = piece_penalty(len(size))
    noises = [point_noise(size, time, error) for time, error in launches]
    tables = [
        PieceTable(size, time, noise, penalty)
        for (time, _), (noise, _, _) in zip(launches, noises, strict=True)
    ]
    prices = _prices(tables)
    steps = [
        boundaries(table, cut(table.cost, price), price)
        for table, price in zip(tables, prices, strict=True)
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


def _prices(tables: list[PieceTable]) -> list[Floats]:
    """What a piece that begins at each size costs in each launch: its place and its line.

    Launches are first cut at the same places, each place paid once and a line by each launch. The
    places where a launch shows something in that cut are paid for when it is cut by itself.
    """
    prices = [np.full(len(table.size), table.penalty) for table in tables]
    if len(tables) == 1:
        return prices
    together = prices[0] * (1 - _SHARE_OF_LINE + _SHARE_OF_LINE * len(tables))
    pieces = cut(np.sum([table.cost for table in tables], axis=0), together)
    for table, price in zip(tables, prices, strict=True):
        shown = boundaries(table, pieces, price)
        price[np.isin(table.size, [finding["size_bytes"] for finding in shown])] *= _SHARE_OF_LINE
    return prices


def piece_penalty(sizes: int) -> float:
    """Cost of one more piece in a curve of so many sizes, in units of the noise squared."""
    return max(_PENALTY_PER_LOG * float(np.log(sizes)), _LEAST_PENALTY)
