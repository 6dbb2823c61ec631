"""Finds single sizes that are off a curve alone, which no protocol explains."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from switchpoint.detection.cliffs import SMALLEST_CLIFF
from switchpoint.detection.segments import Piece, PieceTable
from switchpoint.tables.findings import Anomaly, Evidence
from switchpoint.tables.sweeps import Floats

#: Smaller changes of a single size are not reported, relative.
SMALLEST_OUTLIER = 0.05

#: Three neighbours on a line are this far from it in one case of 16,000.
_LARGEST_MISFIT = 16.0

#: What a large change of one size leaves open if that size was measured once.
_ONCE = "a step that begins at this size may look the same; measure this and the next sizes again"


def off_alone(size: Floats, time: Floats, noise: Floats) -> tuple[Floats, Floats]:
    """Find single sizes that deviate while their neighbours on both sides agree.

    The first point after a step deviates only from the line before it, so it is not an outlier.

    Parameters
    ----------
    size, time, noise : array of float, shape (n,)
        Bytes, ascending, each once; microseconds; relative standard errors.

    Returns
    -------
    change, errors : array of float, shape (n,)
        Relative distance from the lines through the three points on either side if a single point
        lies off both on the same side, and both lines agree around it, otherwise 0; and the same in
        standard errors. Three points at either end are 0.
    """
    change, errors = np.zeros_like(time), np.zeros_like(time)
    if len(size) < 7:
        return change, errors
    here = slice(3, len(size) - 3)
    left, past_left, left_error, left_misfit = _aimed(size, time, noise, np.arange(-3, 0))
    right, past_right, right_error, right_misfit = _aimed(size, time, noise, np.arange(3, 0, -1))
    usual, off = (left + right) / 2, time[here] - np.stack([left, right])
    nearer = np.abs(off).min(axis=0)
    error = np.hypot(noise[here] * usual, np.maximum(left_error, right_error))
    outside = (off > 0).all(axis=0) | (off < 0).all(axis=0)
    alone = outside & (nearer > 5 * error)
    # Lines with other slopes meet somewhere, but agree on one side only.
    for apart in (left - right, past_left - time[4:-2], past_right - time[2:-4]):
        alone &= np.abs(apart) < nearer / 2
    alone &= np.minimum(left, right) > 0  # lines through noisy neighbours can be negative
    # Neighbours with a boundary among them are on no line, so they aim anywhere.
    alone &= np.maximum(left_misfit, right_misfit) < _LARGEST_MISFIT
    errors[here] = np.where(alone, nearer / error, 0.0)
    # An odd size bends its neighbours' lines, so they seem odd too.
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(errors, 3), 7)
    errors = np.where(errors == windows.max(axis=1), errors, 0.0)
    change[here] = np.where(errors[here] > 0, time[here] / usual - 1, 0.0)
    return change, errors


def large(change: Floats, errors: Floats) -> list[Odd]:
    """Return the sizes of `off_alone` that are off by enough to be reported."""
    places = np.flatnonzero(np.abs(change) >= SMALLEST_OUTLIER).tolist()
    return [Odd(place, float(change[place]), float(errors[place])) for place in places]


def outliers(size: Floats, odd: list[Odd], noise: float, *, measured_once: bool) -> list[Anomaly]:
    """Convert sizes that are off alone to findings.

    Parameters
    ----------
    size, odd, noise
        Bytes, the sizes that are off alone, and the typical relative noise of a point.
    measured_once
        Whether there is only one time for each size.
    """
    by_place = {one.place: one for one in odd}
    return [
        {
            "kind": "outlier",
            "size_bytes": int(size[place]),
            "last_size_before": int(size[place - 1]) if place else 0,
            "magnitude": one.change,
            "confidence": sure_of_none_in(len(size), one.errors),
            "evidence": _evidence(one, noise, measured_once=measured_once),
        }
        for place, one in by_place.items()
    ]


def _evidence(one: Odd, noise: float, *, measured_once: bool) -> Evidence:
    evidence: Evidence = {"standard_errors": one.errors, "noise": noise}
    # Nothing lies before the first size, so no step begins there.
    if measured_once and one.place > 0 and abs(one.change) >= SMALLEST_CLIFF:
        evidence["caveat"] = _ONCE
    return evidence


def sure_of_none_in(number: int, errors: float) -> float:
    """Return the probability that none of `number` normal values deviates by `errors`."""
    return math.erf(errors / math.sqrt(2)) ** number


def _aimed(
    size: Floats, time: Floats, noise: Floats, shifts: npt.NDArray[np.int_]
) -> tuple[Floats, Floats, Floats, Floats]:
    """Extrapolate the weighted line through the neighbours at `shifts` to each inner point.

    The last shift is that of the nearest. Returns the times there and at the next size beyond, the
    standard errors of the former, and how far the neighbours lie from their line (the sum of
    squares in units of the noise), for all points but three at either end.
    """
    around = np.arange(3, len(size) - 3)[:, None] + shifts[None, :]
    x, y = size[around], time[around]
    weight = 1 / (noise[around] * y) ** 2
    total = weight.sum(1)
    centre = (weight * x).sum(1) / total
    mean = (weight * y).sum(1) / total
    spread = (weight * (x - centre[:, None]) ** 2).sum(1)
    slope = (weight * (x - centre[:, None]) * (y - mean[:, None])).sum(1) / spread
    here = around[:, -1] - shifts[-1]
    ahead, beyond = size[here] - centre, size[here - shifts[-1]] - centre
    off = y - mean[:, None] - slope[:, None] * (x - centre[:, None])
    return (
        mean + np.maximum(slope, 0) * ahead,
        mean + np.maximum(slope, 0) * beyond,
        np.sqrt(1 / total + ahead**2 / spread),
        (weight * off**2).sum(1),
    )


@dataclass(frozen=True)
class Odd:
    """A single size that is off, between lines that agree.

    Attributes
    ----------
    place : int
        Index of the size.
    change, errors : float
        How far it is off, relative and in standard errors.
    """

    place: int
    change: float
    errors: float


def odd_between(table: PieceTable, left: Piece, place: int, right: Piece) -> Odd | None:
    """Return the single size between two pieces, if their lines agree."""
    size, time = table.size[place - 1 : place + 2], float(table.time[place])
    lines = np.array([[table.line(piece, one)[0] for one in size] for piece in (left, right)])
    before, after = (float(line) for line in lines[:, 1])
    nearer = min(abs(time - before), abs(time - after))
    # Lines with other slopes meet somewhere, but agree on one side only.
    if (time > before) != (time > after) or np.abs(lines[0] - lines[1]).max() >= nearer / 2:
        return None
    before_error, after_error = (table.line(piece, float(size[1]))[1] for piece in (left, right))
    usual = (before + after) / 2
    error = np.hypot(table.noise[place] * usual, max(before_error, after_error))
    return Odd(place, time / usual - 1, nearer / float(error))


def odd_end(table: PieceTable, left: Piece, right: Piece) -> Odd | None:
    """Return the single size at an end of the curve, if one of two pieces is one."""
    last = len(table.size) - 1
    if left == (0, 0):
        place, line = 0, right
    elif right == (last, last):
        place, line = last, left
    else:
        return None
    usual, error = table.line(line, float(table.size[place]))
    change = float(table.time[place]) / usual - 1
    error = float(np.hypot(table.noise[place] * usual, error))
    return Odd(place, change, abs(change) * usual / error)
