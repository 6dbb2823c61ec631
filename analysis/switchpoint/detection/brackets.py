"""Chooses between which sizes a boundary is probable, and the pieces on both sides of it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from switchpoint.detection.bends import Bend, bend
from switchpoint.detection.divisions import Divisions
from switchpoint.detection.segments import Piece, PieceTable

#: A boundary is reported between the fewest sizes that contain it with this probability.
LEAST_PROBABILITY = 0.7


@dataclass(frozen=True)
class Bracket:
    """Neighbouring places that contain a boundary.

    Attributes
    ----------
    first, last : int
        Indices of the first and the last size that may be the first one after the boundary.
    probability : float
        That a boundary is there.
    """

    first: int
    last: int
    probability: float


@dataclass(frozen=True)
class Probable:
    """A boundary that is probable, between two pieces.

    Attributes
    ----------
    bracket, left, right
        Where it is, and the pieces before and after it.
    meets
        Whether the lines of the pieces meet, rather than jump, as this launch alone shows.
    """

    bracket: Bracket
    left: Piece
    right: Piece
    meets: Bend

    @property
    def have_slopes(self) -> bool:
        """Whether both pieces have a slope: a single size has none."""
        return self.left[1] > self.left[0] and self.right[1] > self.right[0]

    def overlaps(self, other: Probable) -> bool:
        """Whether another one may be at the same place."""
        mine, its = self.bracket, other.bracket
        return mine.first <= its.last and its.first <= mine.last


def probable(table: PieceTable, divisions: Divisions) -> Iterator[Probable]:
    """Yield the boundaries that are probable."""
    chosen = brackets(divisions)
    starts = [0, *(bracket.last for bracket in chosen)]
    ends = [*(bracket.first - 1 for bracket in chosen), len(table.size) - 1]
    pieces = itertools.pairwise(zip(starts, ends, strict=True))
    for bracket, (left, right) in zip(chosen, pieces, strict=True):
        places = slice(bracket.first, bracket.last + 1)
        meets = bend(table, left[0], right[1], places, LEAST_PROBABILITY)
        yield Probable(bracket, left, right, meets)


def brackets(divisions: Divisions) -> list[Bracket]:
    """Choose the smallest brackets that contain a boundary; no two have a place in common.

    They are as wide as they have to be: a boundary that is somewhere is never left out.
    """
    n = len(divisions.here)
    free = np.r_[False, np.ones(n - 1, dtype=bool)]
    chosen: list[Bracket] = []
    for width in range(1, n):
        if not _any_left(divisions, free, width):
            break
        probable = divisions.within(width)
        enough = np.flatnonzero(probable >= LEAST_PROBABILITY)
        for start in enough[np.argsort(-probable[enough], kind="stable")].tolist():
            places = slice(start + 1, start + 1 + width)
            if free[places].all():
                free[places] = False
                chosen.append(Bracket(start + 1, start + width, float(probable[start])))
    return sorted(chosen, key=lambda bracket: bracket.first)


def _any_left(divisions: Divisions, free: npt.NDArray[np.bool_], width: int) -> bool:
    """Say whether any so many free neighbouring places or more contain a boundary together."""
    edges = np.flatnonzero(np.diff(free, prepend=False, append=False))
    first, last = edges[::2], edges[1::2] - 1
    wide = last - first + 1 >= width
    return bool((divisions.between(first, last)[wide] >= LEAST_PROBABILITY).any())
