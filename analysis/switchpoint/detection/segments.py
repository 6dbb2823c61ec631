"""Fits a curve with straight pieces of time against bytes, as many as the noise justifies.

Optimal partitioning by dynamic programming (Jackson et al. 2005) over every possible piece. A piece
is Hockney's line, time = intercept + bytes * slope. Its slope is never negative. A negative
intercept costs more; it occurs where lines become steeper, above a cache's or a shaper's size.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

#: First and last index of a piece, both included.
Piece = tuple[int, int]

#: A piece has at least this many sizes, because a single odd size is not a piece. At either end of
#: the curve it needs one more, because an odd size there has neighbours on one side only.
MIN_SIZES = 2
MIN_SIZES_AT_END = 3


class PieceTable:
    """The weighted least-squares line through every run of neighbouring sizes.

    Parameters
    ----------
    size, time : array of float, shape (n,)
        Message sizes in bytes, ascending, each once; times in microseconds, positive.
    noise : array of float, shape (n,)
        Standard error of each time relative to it.
    penalty : float
        Cost of one more piece; `3 * log(n)` is the Bayesian information criterion. A line with a
        negative intercept, which grows faster than its bytes, costs twice as much.

    Attributes
    ----------
    intercept, slope, misfit, cost : array of float, shape (n, n)
        For the piece from row index to column index, both included: microseconds, microseconds per
        byte, and the sum of squared residuals in units of the noise, with the penalty of a
        negative intercept. `cost` is the misfit, but infinite for pieces that are too short.
        Entries below the diagonal have no meaning.
    """

    def __init__(self, size: Floats, time: Floats, noise: Floats, penalty: float) -> None:
        self.size, self.time, self.noise, self.penalty = size, time, noise, penalty
        weight = 1.0 / (noise * time) ** 2
        # Sizes relative to the largest keep the sums of squares in range.
        self._unit = max(float(size[-1]), 1.0)
        x = size / self._unit
        sums = [
            _sums_over_runs(values)
            for values in (weight, weight * x, weight * x * x, weight * time, weight * x * time)
        ]
        total, sx, sxx, sy, sxy = sums
        syy = _sums_over_runs(weight * time * time)
        self._moments = (total, sx, sxx)
        self.intercept, slope, cost = _constrained_lines(total, sx, sxx, sy, sxy, syy, penalty)
        self.slope = slope / self._unit
        self.misfit = np.maximum(cost, 0.0)
        self.cost = np.where(self._may_stand(), self.misfit, np.inf)
        self.cost[0, -1] = self.misfit[0, -1]  # the whole curve is always a piece

    def line(self, first: int, last: int, size: float) -> tuple[float, float]:
        """Return the time of a piece's line at `size` and its standard error, in microseconds."""
        total, sx, sxx = (float(moment[first, last]) for moment in self._moments)
        value = float(self.intercept[first, last] + self.slope[first, last] * size)
        x = size / self._unit
        determinant = total * sxx - sx * sx
        if determinant <= 1e-12 * total * sxx:
            return value, total**-0.5
        return value, ((sxx - 2 * x * sx + x * x * total) / determinant) ** 0.5

    def _may_stand(self) -> npt.NDArray[np.bool_]:
        """Return whether a piece has enough sizes and spans enough for extrapolation.

        Otherwise sizes a few bytes apart could give any line across the gap beside them.
        """
        n = len(self.size)
        index = np.arange(n)
        inside = (index[:, None] > 0) & (index[None, :] < n - 1)
        least = np.where(inside, MIN_SIZES, MIN_SIZES_AT_END)
        enough = index[None, :] - index[:, None] >= least - 1
        gaps = np.diff(self.size)
        before = np.r_[0.0, gaps][:, None]
        after = np.r_[gaps, 0.0][None, :]
        span = self.size[None, :] - self.size[:, None]
        return np.asarray(enough & (2 * span >= np.maximum(before, after)))


def cut(cost: Floats, price: Floats) -> list[Piece]:
    """Choose the pieces that minimise the sum of their costs and prices, exactly.

    Parameters
    ----------
    cost : array of float, shape (n, n)
        For the piece from row index to column index, as in `PieceTable`.
    price : array of float, shape (n,)
        Additional cost of a piece that begins at this index.
    """
    n = len(price)
    best = np.zeros(n + 1)
    previous = np.zeros(n, dtype=int)
    for last in range(n):
        totals = best[: last + 1] + price[: last + 1] + cost[: last + 1, last]
        previous[last] = int(totals.argmin())
        best[last + 1] = totals[previous[last]]
    pieces: list[Piece] = []
    last = n - 1
    while last >= 0:
        pieces.append((int(previous[last]), last))
        last = pieces[-1][0] - 1
    return pieces[::-1]


def _sums_over_runs(values: Floats) -> Floats:
    """Return the sum of values[i..j], both included, for every i (rows) and j (columns).

    Each row is summed by itself: in differences of one cumulative sum, values that are many orders
    of magnitude smaller than others would be lost. Below the diagonal the sums are 0.
    """
    rows = np.broadcast_to(values, (len(values), len(values)))
    return np.asarray(np.cumsum(np.triu(rows), axis=1))


def _constrained_lines(
    total: Floats,
    sx: Floats,
    sxx: Floats,
    sy: Floats,
    sxy: Floats,
    syy: Floats,
    penalty: float,
) -> tuple[Floats, Floats, Floats]:
    """Return least-squares lines with slope >= 0, and their costs, from weighted sums.

    If the intercept would be negative, the result is the line through the origin, unless that
    costs more than the penalty.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        determinant = total * sxx - sx * sx
        sloped = determinant > 1e-10 * total * sxx
        slope = np.where(sloped, (total * sxy - sx * sy) / determinant, 0.0)
        intercept = (sy - slope * sx) / total
        flat = (slope < 0) | ~sloped
        slope = np.where(flat, 0.0, slope)
        intercept = np.where(flat, sy / total, intercept)
        cost = syy - intercept * sy - slope * sxy  # valid only for least-squares lines
        negative = intercept < 0
        cost[negative] += penalty
        proportional = syy - sxy * sxy / sxx
        through = negative & (proportional <= cost)
        slope = np.where(through, sxy / sxx, slope)
    return (
        np.where(through, 0.0, intercept), slope, np.where(through, proportional, cost)
    )  # fmt: skip
