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

    They may be weighed under several assumptions at once, which have the leading axes of the
    arrays; the probabilities are then the mean over the assumptions.

    Parameters
    ----------
    evidence : array of float, shape (..., n, n)
        Of the piece from row index to column index, as in `PieceTable`.
    odds : array of float, shape (..., n)
        Logarithm of the odds, before the data, of a boundary just before each size. The first is
        not used.
    assumed : array of float, shape (...)
        Logarithm of the odds of each assumption, before the data.

    Attributes
    ----------
    here : array of float, shape (n,)
        Probability of a boundary just before each size; 0 for the first.
    total : float
        Logarithm of the sum over all divisions: how well they explain the curve together.
    """

    def __init__(self, evidence: Floats, odds: Floats, assumed: Floats | float = 0.0) -> None:
        n = odds.shape[-1]
        rows = odds[..., None].copy()
        rows[..., 0, :] = 0.0
        pieces = (evidence + rows).reshape(-1, n, n)
        count = len(pieces)
        best = np.full((count, n + 1), -np.inf)  # the best division of the sizes before each index
        best[:, 0] = 0.0
        for first in range(n):
            ahead = best[:, first + 1 :]
            np.maximum(ahead, best[:, first, None] + pieces[:, first, first:], out=ahead)
        # Relative to the best, all sums are of moderate size.
        pieces += best[:, :n, None]
        pieces -= best[:, None, 1:]
        np.exp(pieces, out=pieces)
        before, after = np.zeros((count, n + 1)), np.ones((count, n + 1))
        before[:, 0] = 1.0
        for first in range(n):
            before[:, first + 1 :] += before[:, first, None] * pieces[:, first, first:]
        for first in range(n - 1, -1, -1):
            row = pieces[:, first, first:]
            after[:, first] = np.einsum("ij,ij->i", row, after[:, first + 1 :])
        totals = best[:, n] + np.log(before[:, n]) + np.ravel(assumed)
        self.total = float(np.logaddexp.reduce(totals))
        before *= (np.exp(totals - self.total) / before[:, n])[:, None]
        self.here = (before[:, :n] * after[:, :n]).sum(axis=0)
        self.here[0] = 0.0
        # The probability of each piece, and then of any piece that begins at the row's size or
        # before it, and ends at the column's size or after it.
        pieces *= before[:, :n, None]
        pieces *= after[:, None, 1:]
        mean = pieces[0] if count == 1 else pieces.sum(axis=0)
        np.cumsum(mean, axis=0, out=mean)
        from_the_end = mean[:, ::-1]
        np.cumsum(from_the_end, axis=1, out=from_the_end)
        self._undivided = mean

    @classmethod
    def averaged(cls, parts: Iterable[Divisions]) -> Divisions:
        """Return the mean of the divisions of one curve under several assumptions.

        Divisions of many sizes are large, so `parts` may compute each when it is needed.
        """
        several = iter(parts)
        mean = next(several)
        for part in several:
            both = np.logaddexp(mean.total, part.total)
            share = np.exp(part.total - both)
            for own, other in ((mean.here, part.here), (mean._undivided, part._undivided)):
                own *= 1 - share
                other *= share
                own += other
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
