"""Separates single sizes that are off alone from steps, once the lines beside them are known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from switchpoint.detection.segments import Piece, PieceTable


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
