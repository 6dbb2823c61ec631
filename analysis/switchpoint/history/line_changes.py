"""How much latency and time per byte of a line changed, by a robust fit to all sizes together.

With the history's line t = a + b m of a segment, a launch whose latency is exp(x) times and whose
time per byte is exp(y) times the history's has times whose logarithms differ by
r(m) = log(w(m) exp(x) + (1 - w(m)) exp(y)), with the share w = a / (a + b m) of latency. A robust
regression of r gives x and y, by Gauss-Newton steps: about given x and y, r is linear in both, with
w' = w exp(x) / (w exp(x) + (1 - w) exp(y)) and 1 - w'.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from switchpoint.tables.curves import median_by
from switchpoint.tables.student import SD_PER_MAD
from switchpoint.tables.sweeps import Floats, Indices

#: The regression's weights are those of Tukey's biweight with this many standard deviations
#: (95 % efficient for normal noise), after so many steps.
_BIWEIGHT = 4.685
_STEPS = 5

#: Then levels are fitted where the sizes cannot tell both, unless latency and time per byte differ
#: by this many standard errors.
_STEPS_OF_LEVELS = 3
_SURE = 5.0

#: A line whose share of latency varies less than this, as a standard deviation, is a level.
_LEAST_SPREAD = 0.02

#: No step changes the logarithm of a parameter by more than this, so that none goes too far.
_LONGEST_STEP = 1.0


def line_changes(
    cell: Indices,
    count: int,
    ratio: Floats,
    share: Floats,
    weight: Floats,
    both: npt.NDArray[np.bool_],
) -> tuple[Floats, Floats]:
    """Return the change of latency and of time per byte of each cell, as logarithms.

    Parameters
    ----------
    cell : array of int, shape (points,)
        What the points belong to: a launch and a segment.
    count : int
        How many cells there are.
    ratio, share, weight : array of float, shape (points,)
        How much slower each is than the history, as a logarithm; w of the history's line; and the
        inverse of its variance.
    both : array of bool, shape (points,)
        Whether the sizes of its segment can tell both. If not, both are the same level, unless the
        cell shows for sure that they are not: a much higher latency is no lower bandwidth.
    """
    total = _Sums(cell, count)
    level = median_by(cell, ratio) if count else np.zeros(0)
    latency, per_byte = level, level
    free = np.ones(count, dtype=bool)
    for step in range(_STEPS + _STEPS_OF_LEVELS):
        own = share * np.exp(latency[cell])
        whole = own + (1 - share) * np.exp(per_byte[cell])
        own_share = own / whole
        off = ratio - np.log(whole)
        linear = off + own_share * latency[cell] + (1 - own_share) * per_byte[cell]
        deviation = np.abs(off) * np.sqrt(weight)
        scale = np.maximum(SD_PER_MAD * median_by(cell, deviation), 1.0) if count else level
        robust = np.clip(1 - (deviation / (_BIWEIGHT * scale[cell])) ** 2, 0, None) ** 2
        # The first step starts from a median, which an accurate line may be far from at its ends.
        used = weight * (np.maximum(robust, 0.05) if step == 0 else robust)
        w = total(used)
        mean_s, mean_r = total(used * own_share) / w, total(used * linear) / w
        off_s = own_share - mean_s[cell]
        spread = total(used * off_s**2)
        moment = total(used * off_s * linear)
        tells = spread > _LEAST_SPREAD**2 * w
        slope = np.where(tells, moment / np.where(tells, spread, 1), 0.0)
        if step == _STEPS:
            free = total.any(both) | (np.abs(slope) * np.sqrt(spread) > _SURE * scale)
        slope = np.where(free, slope, 0.0)
        to = mean_r + slope * (1 - mean_s), mean_r - slope * mean_s
        latency, per_byte = (
            old + np.clip(new - old, -_LONGEST_STEP, _LONGEST_STEP)
            for old, new in zip((latency, per_byte), to, strict=True)
        )
    return latency, per_byte


@dataclass(frozen=True)
class _Sums:
    """Sums of values by cell."""

    cell: Indices
    count: int

    def __call__(self, values: Floats) -> Floats:
        return np.asarray(np.bincount(self.cell, values, minlength=self.count), dtype=float)

    def any(self, which: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """Return for each cell whether it has such a value."""
        return np.asarray(self(which.astype(float)) > 0)
