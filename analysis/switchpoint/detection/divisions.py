"""Sums over all divisions of a curve into pieces: how probable are boundaries and where.

Forward and backward sums (Fearnhead 2006) over every division, exactly. Nothing is searched: each
probability counts all divisions, with the same pieces and the same prices.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from switchpoint.tables.sweeps import Floats, Indices


class Divisions:
    """All divisions of a curve into pieces, and their probabilities.

    Parameters
    ----------
    evidence : array of float, shape (n, n)
        Of the piece from row index to column index, as in `PieceTable`.
    odds : array of float, shape (n,)
        Logarithm of the odds, before the data, of a boundary just before each size. The first is
        not used.

    Attributes
    ----------
    here : array of float, shape (n,)
        Probability of a boundary just before each size; 0 for the first.
    total : float
        Logarithm of the sum over all divisions: how well they explain the curve together.
    """

    def __init__(self, evidence: Floats, odds: Floats) -> None:
        n = len(odds)
        pieces = evidence + np.r_[0.0, odds[1:]][:, None]
        best = np.r_[0.0, np.full(n, -np.inf)]  # the best division of the sizes before each index
        for first in range(n):
            ahead = best[first + 1 :]
            np.maximum(ahead, best[first] + pieces[first, first:], out=ahead)
        # Relative to the best, all sums are of moderate size.
        pieces += best[:n, None]
        pieces -= best[1:]
        np.exp(pieces, out=pieces)
        before, after = np.r_[1.0, np.zeros(n)], np.ones(n + 1)
        for first in range(n):
            before[first + 1 :] += before[first] * pieces[first, first:]
        for first in range(n - 1, -1, -1):
            after[first] = pieces[first, first:] @ after[first + 1 :]
        self.total = float(best[n] + np.log(before[n]))
        self.here = before[:n] * after[:n] / before[n]
        self.here[0] = 0.0
        # The probability of each piece, and then of any piece that begins at the row's size or
        # before it, and ends at the column's size or after it.
        pieces *= before[:n, None] / before[n]
        pieces *= after[1:]
        np.cumsum(pieces, axis=0, out=pieces)
        from_the_end = pieces[:, ::-1]
        np.cumsum(from_the_end, axis=1, out=from_the_end)
        self._undivided = pieces

    @classmethod
    def averaged(cls, parts: Iterable[tuple[Divisions, float]]) -> Divisions:
        """Return the mean of the divisions of one curve under several assumptions.

        Parameters
        ----------
        parts
            The divisions under each assumption, and the logarithm of its odds before the data.
            Divisions are large, so no two are needed at once.
        """
        several = iter(parts)
        mean, odds = next(several)
        mean.total += odds
        for part, odds in several:
            total = part.total + odds
            both = np.logaddexp(mean.total, total)
            share = np.exp(total - both)
            for one, other in ((mean.here, part.here), (mean._undivided, part._undivided)):
                one *= 1 - share
                other *= share
                one += other
            mean.total = float(both)
        return mean

    def between(self, first: Indices, last: Indices) -> Floats:
        """Return the probability of a boundary at one of some neighbouring places.

        Each place is named by the index of the size after it; both ends are included.
        """
        return np.asarray(np.maximum(1 - self._undivided[first - 1, last], 0.0))

    def within(self, width: int) -> Floats:
        """Return the probability of a boundary within `width` places, by the first of them.

        The first entry is that of the places before the sizes of index 1 to `width`.
        """
        first = np.arange(1, len(self.here) - width + 1)
        return self.between(first, first + width - 1)
