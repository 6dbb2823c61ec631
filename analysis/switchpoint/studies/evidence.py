"""What a claim about measurements rests on: figures of points, with bootstrap intervals."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from switchpoint.studies.points import Point
from switchpoint.tables.sweeps import Floats

#: Times that differ by less than this count as equal; the second value is for efficiencies.
SAME = 0.05
SAME_EFFICIENCY = 0.01

DRAWS = 4000
SEED = 20261121
_ERROR_RATE = 0.05


@dataclass(frozen=True)
class Wanted:
    """The range in which a figure must lie for a claim to hold."""

    low: float = -np.inf
    high: float = np.inf

    def judge(self, low: float, high: float) -> bool | None:
        """Return whether an interval lies inside (True), outside (False), or on the edge (None)."""
        if low > self.low and high < self.high:
            return True
        return False if high <= self.low or low >= self.high else None

    def __str__(self) -> str:
        if np.isinf(self.high):
            return f"above {self.low:g}"
        if np.isinf(self.low):
            return f"below {self.high:g}"
        return f"{self.low:g} to {self.high:g}"


@dataclass(frozen=True)
class Evidence:
    """One figure that a claim depends on.

    Attributes
    ----------
    what, unit : str
        What was compared, and the figure's unit (empty for ratios).
    value, low, high : float
        Point estimate and its bootstrap interval.
    wanted : str
        The range that it must lie in.
    holds : bool or None
        Whether the interval lies in that range; None if it crosses an end of it.
    units : int
        Launches or passes behind the smallest sample.
    runs : tuple of str
        The run IDs.
    """

    what: str
    value: float
    low: float
    high: float
    wanted: str
    holds: bool | None
    unit: str = ""
    units: int = 0
    runs: tuple[str, ...] = ()


def judge(
    what: str,
    points: Sequence[Point],
    figure: Callable[[Floats], Floats],
    wanted: Wanted,
    *,
    unit: str = "",
    comparisons: int = 1,
) -> Evidence:
    """Estimate a figure from points' medians and compare its interval with the wanted range.

    Parameters
    ----------
    what
        The name of the figure.
    points
        The points, in the order in which `figure` takes them.
    figure
        Maps medians of shape (draws, points) to figures of shape (draws,).
    wanted
        The range that makes the claim hold.
    unit
        Of the figure.
    comparisons
        How many figures the claim depends on. The interval is widened so that all of them are
        valid together at 95 % (Bonferroni).
    """
    figures = figure(resampled_medians(points))
    return conclude(what, figures, wanted, points, unit=unit, comparisons=comparisons)


def conclude(
    what: str,
    figures: Floats,
    wanted: Wanted,
    points: Iterable[Point],
    *,
    unit: str = "",
    comparisons: int = 1,
) -> Evidence:
    """Convert a figure (first) and its draws (the others) to evidence."""
    tail = _ERROR_RATE / 2 / comparisons
    low, high = (float(x) for x in np.quantile(figures[1:], [tail, 1 - tail]))
    points = list(points)
    return Evidence(
        what, float(figures[0]), low, high, str(wanted), wanted.judge(low, high), unit,
        min((len(point.medians) for point in points), default=0),
        tuple(sorted({run for point in points for run in point.runs})),
    )  # fmt: skip


def resampled_medians(points: Sequence[Point]) -> Floats:
    """Medians of points and of bootstrap draws of their launches or passes.

    Points of the same passes are drawn together, so that the disturbance of a pass cancels in
    their ratio (Efron and Tibshirani 1993, chapters 8 and 13).

    Returns
    -------
    array of float, shape (1 + DRAWS, points)
        The first row without resampling.
    """
    random = np.random.default_rng(SEED)
    columns: list[Floats] = []
    drawn: dict[tuple[Hashable, ...], npt.NDArray[np.int64]] = {}
    for point in points:
        medians = point.medians.sort_index()
        times = medians.to_numpy(dtype=float)
        index = tuple(medians.index)
        if index not in drawn:
            drawn[index] = random.integers(0, len(times), (DRAWS, len(times)))
        columns.append(np.r_[np.median(times), np.median(times[drawn[index]], axis=1)])
    return np.stack(columns, axis=1)


def ratio(medians: Floats) -> Floats:
    """Return the first point's time divided by the second's."""
    return np.asarray(medians[:, 0] / medians[:, 1])


def slower(what: str, point: Point, than: Point, *, by: float = SAME, **how: Any) -> Evidence:
    """Return evidence that one point takes longer than another and is not equal to it."""
    return judge(what, [point, than], ratio, Wanted(low=1 + by), **how)


def alike(what: str, point: Point, other: Point, *, within: float = 0.1, **how: Any) -> Evidence:
    """Evidence that two points take the same time."""
    return judge(what, [point, other], ratio, Wanted(1 - within, 1 + within), **how)


def resampled_rows(table: Floats, figure: Callable[[Floats], Floats]) -> Floats:
    """Figure of a table (first) and of bootstrap draws of its rows.

    Parameters
    ----------
    table : array of float, shape (rows, columns)
    figure
        Maps tables of shape (draws, rows, columns) to figures of shape (draws,).
    """
    random = np.random.default_rng(SEED)
    draws = random.integers(0, len(table), (DRAWS, len(table)))
    return np.concatenate([figure(table[None]), figure(table[draws])])
