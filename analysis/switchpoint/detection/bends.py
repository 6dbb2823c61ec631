"""Compares two explanations of a boundary: the time jumps there, or two lines meet."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from switchpoint.detection.segments import LEVEL_RANGE, PieceTable
from switchpoint.tables.sweeps import Floats, Indices

#: The logarithm of the odds that two lines meet, against a jump, before the data. One boundary in
#: eight is a bend: this makes the curves of bench/detection/curves.parquet most probable that have
#: nine sizes an octave, so that they distinguish a jump from a bend. It needs no labels.
_LOG_ODDS = float(np.log(0.15))

#: What another launch of the curve says of this changes the logarithm of the odds by no more: in
#: one launch of ten the time may jump where the lines of another one meet.
_MOST_OF_ANOTHER = float(np.log(9))


@dataclass(frozen=True)
class Bend:
    """A change of slope without a jump.

    Attributes
    ----------
    log_odds : float
        The logarithm of the odds that two lines meet, rather than that the time jumps.
    first, last : int
        If they meet: indices of the first and the last size that may be the first one after it.
    share : float
        If they meet: the probability that they meet there.
    """

    log_odds: float
    first: int
    last: int
    share: float

    @property
    def probability(self) -> float:
        """The probability that two lines meet, rather than that the time jumps."""
        return float(0.5 * (1 + np.tanh(self.log_odds / 2)))

    def with_others(self, others: Iterable[Bend]) -> Bend:
        """Return the same with the odds that other launches of the curve make likely.

        The library and its settings decide whether lines meet or the time jumps, so launches share
        it. What the data of each launch add to the odds adds up, within limits.
        """
        own = [other.log_odds - _LOG_ODDS for other in others]
        added = float(np.clip(own, -_MOST_OF_ANOTHER, _MOST_OF_ANOTHER).sum())
        return replace(self, log_odds=self.log_odds + added)


def bend(table: PieceTable, first: int, last: int, jumps: slice, least: float) -> Bend:
    """Compare a jump at one of some places with two lines that meet, between two sizes.

    Parameters
    ----------
    table
        The evidence for every piece.
    first, last
        Indices of the first and the last size of the two pieces together.
    jumps
        Indices of the sizes before which the time may jump. Lines may meet before any size.
    least
        The returned bracket contains the place where lines meet with this probability.
    """
    places = np.arange(first + 1, last + 1)
    two = table.evidence[first, places - 1] + table.evidence[places, last]
    meet = two + _log_odds_of_meeting(table, first, places, last) + _LOG_ODDS
    of_any = float(np.logaddexp.reduce(meet))
    of_jump = float(np.logaddexp.reduce(two[jumps.start - first - 1 : jumps.stop - first - 1]))
    share = np.exp(meet - of_any)
    # The smallest bracket: the sum over all places is 1, so there is one.
    sums = np.r_[0.0, np.cumsum(share)]
    for width in range(1, len(share) + 1):
        within = sums[width:] - sums[:-width]
        start = int(within.argmax())
        if within[start] >= least:
            break
    before = first + 1 + start
    return Bend(of_any - of_jump, before, before + width - 1, float(min(within[start], 1.0)))


def _log_odds_of_meeting(table: PieceTable, first: int, places: Indices, last: int) -> Floats:
    """Return how much likelier two lines are to meet before each place than to jump there.

    The ratio of the densities of no jump, with the data and without (Dickey 1971), averaged over
    the gap before the place: the lines are equally likely to meet anywhere in it.
    """
    firsts, lasts = np.full_like(places, first), np.full_like(places, last)
    low, high = table.size[places - 1], table.size[places]

    def jump(at: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the difference of the lines, its error, and their mean."""
        before, before_error = table.lines(firsts, places - 1, at)
        after, after_error = table.lines(places, lasts, at)
        return after - before, np.hypot(before_error, after_error), (after + before) / 2

    at_low, at_high = jump(low)[0], jump(high)[0]
    apart = at_high - at_low
    with np.errstate(divide="ignore", invalid="ignore"):
        crossing = np.where(apart == 0, 0.5, np.clip(-at_low / apart, 0, 1))
    _, error, level = jump(low + crossing * (high - low))
    # Parallel lines: a difference far below the error has the same density.
    apart = np.where(np.abs(apart) < 1e-3 * error, 1e-3 * error, apart)
    density = (_normal((at_low + apart) / error) - _normal(at_low / error)) / apart
    return np.asarray(np.log(np.maximum(density * LEVEL_RANGE * level, 1e-300)))


def _normal(value: Floats) -> Floats:
    """Return the share of a normal distribution below a value, within 0.0003 (Page 1977)."""
    return np.asarray(0.5 * (1 + np.tanh(0.7978845608 * value * (1 + 0.044715 * value**2))))
