"""Weighs every run of neighbouring sizes as one straight piece of time against bytes.

A piece is Hockney's line, time = latency + bytes * time per byte. What a piece is worth is its
marginal likelihood: the probability of its times, averaged over the lines that messages can have
(MacKay 2003, chapter 28). So a line through two sizes does not fit for nothing, and a line that is
steeper than any message pays for it.
"""

from __future__ import annotations

import functools

import numpy as np

from switchpoint.tables.sweeps import Floats, Indices

#: First and last index of a piece, both included.
Piece = tuple[int, int]

#: The level of a piece can be anything over this range of the natural logarithm of time: a factor
#: of 20, which spans nearly all steps that were seen from one piece to the next.
LEVEL_RANGE = 3.0

#: The share of the time at the middle of a piece that grows with its bytes: weight, mean, and
#: standard deviation of normal distributions. It is 0 where latency dominates and 1 where
#: bandwidth does. It is larger where lines become steeper, above a cache's or a shaper's size.
_SHARES = ((0.3, 0.0, 0.03), (0.6, 0.5, 0.5), (0.1, 1.0, 2.0))

#: The tables are computed by blocks of rows, which stay in the processor's cache.
_ROWS_AT_ONCE = 64

#: No density is less than this, so that its logarithm is finite.
_LEAST = 1e-300

#: The same as one normal distribution, for the line of a piece whose sizes do not show its slope.
_USUAL_SHARE, _USUAL_ERROR = 0.4, 0.5


class PieceTable:
    """The line through every run of neighbouring sizes, and the evidence for it.

    Parameters
    ----------
    size, time : array of float, shape (n,)
        Message sizes in bytes, ascending, each once; times in microseconds, positive.
    noise : array of float, shape (n,)
        Standard error of each time relative to it.

    Attributes
    ----------
    evidence : array of float, shape (n, n)
        For the piece from row index to column index, both included: the natural logarithm of its
        marginal likelihood, without the factors that all divisions of the curve have in common.
        Minus infinity below the diagonal.
    """

    def __init__(self, size: Floats, time: Floats, noise: Floats) -> None:
        self.size, self.time, self.noise = size, time, noise
        n = len(size)
        self.evidence = np.empty((n, n))
        self._total, self._centre, self._level, self._spread, self._slope = np.empty((5, n, n))
        weight = 1.0 / (noise * time) ** 2
        for first in range(0, n, _ROWS_AT_ONCE):
            self._fill(slice(first, min(first + _ROWS_AT_ONCE, n)), weight)

    def _fill(self, rows: slice, weight: Floats) -> None:
        """Compute the lines of the pieces that begin at these sizes."""
        here = rows, slice(rows.start, None)
        # Below the diagonal are no pieces. Their weight is 0, and what follows there is ignored.
        none = _below_diagonal(rows.stop - rows.start)
        total, mean_x, mean_y, spread, slope, misfit = self._fit(rows, weight, none)
        mean_x += self.size[rows, None]
        mean_y += self.time[rows, None]
        evidence = _density_of_slopes(mean_y / np.maximum(mean_x, 1.0), spread, slope)
        evidence *= np.sqrt(2 * np.pi / LEVEL_RANGE**2 / total)
        evidence /= mean_y
        np.log(np.maximum(evidence, _LEAST, out=evidence), out=evidence)
        evidence -= 0.5 * np.maximum(misfit, 0.0)
        evidence[none] = -np.inf
        self.evidence[rows, : rows.start] = -np.inf
        self.evidence[here] = evidence
        self._total[here], self._spread[here], self._slope[here] = total, spread, slope
        self._centre[here], self._level[here] = mean_x, mean_y

    def _fit(self, rows: slice, weight: Floats, none: tuple[Indices, Indices]) -> list[Floats]:
        """Fit the least-squares lines of the pieces that begin at these sizes.

        Returns their weights, means of size and time relative to their first sizes, one over the
        variances of their slopes, slopes, and sums of squared deviations in units of the noise.
        """
        # Each row is summed by itself, relative to the first size of its pieces: in differences of
        # one cumulative sum, values that are many orders of magnitude smaller would be lost.
        x = self.size[rows.start :] - self.size[rows, None]
        y = self.time[rows.start :] - self.time[rows, None]
        sums = np.empty((6, *x.shape))
        w, wx, wy, wxx, wxy, wyy = sums
        w[:] = weight[rows.start :]
        w[none] = 0.0
        np.multiply(w, x, out=wx)
        np.multiply(w, y, out=wy)
        np.multiply(wx, x, out=wxx)
        np.multiply(wx, y, out=wxy)
        np.multiply(wy, y, out=wyy)
        np.cumsum(sums, axis=2, out=sums)
        sums[0][none] = 1.0
        total, mean_x, mean_y, spread, moment, misfit = sums
        spread -= mean_x * mean_x / total
        moment -= mean_x * mean_y / total
        misfit -= mean_y * mean_y / total
        mean_x /= total
        mean_y /= total
        # Where all sizes but one weigh nothing beside it, rounding leaves no spread, and no slope.
        np.copyto(moment, 0.0, where=spread <= 0)
        np.maximum(spread, _LEAST, out=spread)
        slope = moment / spread
        misfit -= slope * moment
        return [total, mean_x, mean_y, spread, slope, misfit]

    def lines(self, first: Indices, last: Indices, size: Floats) -> tuple[Floats, Floats]:
        """Return the times of pieces' lines at `size` and their standard errors, in microseconds.

        A piece with few sizes leaves its slope to what slopes usually are.
        """
        slope, error = self._likely_slopes(first, last)
        away = size - self._centre[first, last]
        return (
            self._level[first, last] + slope * away,
            np.sqrt(1 / self._total[first, last] + (error * away) ** 2),
        )

    def line(self, piece: Piece, size: float) -> tuple[float, float]:
        """Return the same for one piece and one size."""
        first, last = np.array(piece)[:, None]
        time, error = self.lines(first, last, np.array([size]))
        return float(time[0]), float(error[0])

    def slope(self, piece: Piece) -> float:
        """Return the time per byte of a piece in microseconds."""
        first, last = np.array(piece)[:, None]
        return float(self._likely_slopes(first, last)[0][0])

    def _likely_slopes(self, first: Indices, last: Indices) -> tuple[Floats, Floats]:
        """Return the slopes that pieces' sizes and usual slopes make likely, and their errors."""
        scale = self._level[first, last] / np.maximum(self._centre[first, last], 1.0)
        usual = 1 / (_USUAL_ERROR * scale) ** 2
        known = self._spread[first, last]
        slope = (known * self._slope[first, last] + usual * _USUAL_SHARE * scale) / (known + usual)
        return np.maximum(slope, 0.0), (known + usual) ** -0.5


@functools.cache
def _below_diagonal(rows: int) -> tuple[Indices, Indices]:
    """Return the places below a diagonal of at most `_ROWS_AT_ONCE` rows.

    Cached: to create them takes about as long as to fit the lines of a short curve.
    """
    return np.tril_indices(rows, -1)


def _density_of_slopes(scale: Floats, spread: Floats, slope: Floats) -> Floats:
    """Return how likely slopes are, relative to the likelihood of the least-squares slope.

    Parameters
    ----------
    scale : array of float
        The slope of a line through the origin, in microseconds per byte.
    spread, slope : array of float
        The least-squares slope, and its precision: one over its variance.
    """
    precision = scale * scale * spread  # of the share that grows with the bytes
    share = slope / scale
    likely = np.zeros_like(slope)
    for weight, mean, deviation in _SHARES:
        wider = 1 + deviation**2 * precision
        away = share - mean
        away *= away
        away *= precision
        away /= wider
        away *= -0.5
        np.exp(away, out=away)
        away *= weight
        away /= np.sqrt(wider, out=wider)
        likely += away
    return likely
