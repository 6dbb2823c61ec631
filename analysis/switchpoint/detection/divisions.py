"""Sums over all divisions of a curve into pieces: how probable are boundaries and where.

Forward and backward sums (Fearnhead 2006) over every division, exactly. Nothing is searched: each
probability counts all divisions, with the same pieces and the same prices.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from switchpoint.tables.sweeps import Floats

#: A boundary can be asked for within at most so many places.
MOST_PLACES = 9


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
        # By index: the probability of a boundary there whose piece has more than so many sizes.
        self._longer = np.tile(self.here, (MOST_PLACES, 1))
        for more in range(1, min(MOST_PLACES, n)):
            # Pieces of `more` sizes, by their first.
            these = np.diagonal(pieces, more - 1) * before[: n + 1 - more] * after[more:]
            self._longer[more:, : n + 1 - more] -= these / before[n]

    @classmethod
    def averaged(cls, parts: Sequence[Divisions], weights: Floats) -> Divisions:
        """Return the mean of the divisions of one curve under several assumptions."""
        mean = cls.__new__(cls)
        mean.total = float(np.logaddexp.reduce([part.total for part in parts]))
        mean.here = sum(weight * part.here for part, weight in zip(parts, weights, strict=True))
        mean._longer = sum(
            weight * part._longer for part, weight in zip(parts, weights, strict=True)
        )
        return mean

    def within(self, width: int) -> Floats:
        """Return the probability of a boundary within `width` places, by the first of them.

        The first entry is that of the places before the sizes of index 1 to `width`, at most
        `MOST_PLACES`.
        """
        # The last boundary within them is at one of the places, and its piece reaches their end.
        n = len(self.here)
        last = [self._longer[more, width - more : n - more] for more in range(width)]
        return np.asarray(np.maximum(np.sum(last, axis=0), 0.0))
