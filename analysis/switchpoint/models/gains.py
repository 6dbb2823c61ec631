"""Says whether one prediction is surely faster than another one, and by how much.

The intervals of two predictions have the same cause, the scatter of the same links, which does not
matter for which of them is faster. They are therefore compared bound by bound. How much faster it
is does depend on it, where one uses single messages and the other a stream.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from switchpoint.models.prediction import Prediction

#: A smaller gain is within the errors of predictions (docs/reference/models.md).
LEAST_GAIN = 1.1

#: What the simulator leaves out changes a gain by at most this factor in 95 % of cases. A median
#: error of 10 %, the target of bench/prediction.py, is 1.96 / 0.674 times as much at 95 %.
ERROR = 1.29


def surely_faster(better: Prediction, other: Prediction) -> bool:
    """Return whether the gain is more than the errors of predictions at each bound."""
    gains = (
        other.at_bounds_us[bound] / max(time_us, 1e-9)
        for bound, time_us in better.at_bounds_us.items()
    )
    return min(gains) > LEAST_GAIN


def gain_interval(
    better_us: float,
    other_us: float,
    better_by_curve: Mapping[Any, tuple[float, float]],
    other_by_curve: Mapping[Any, tuple[float, float]],
) -> tuple[float, float]:
    """Return the least and the most gain: the time of the other, divided by that of the better.

    Each curve of the model was measured by itself, so what its scatter does to the gain is
    independent of that of the others, and of the predictions' own `ERROR`.

    Parameters
    ----------
    better_us, other_us
        The predicted times in microseconds.
    better_by_curve, other_by_curve
        As from `times_by_curve`.

    >>> low, high = gain_interval(1, 2, {"send": (0.5, 2)}, {"send": (1, 4)})  # as one
    >>> f"{low:.2f} to {high:.2f}"
    '1.55 to 2.58'
    """
    gain = math.log(other_us / better_us)
    down = up = math.log(ERROR) ** 2
    for curve in {*better_by_curve, *other_by_curve}:
        better = better_by_curve.get(curve, (better_us, better_us))
        other = other_by_curve.get(curve, (other_us, other_us))
        moves = [math.log(o / b) - gain for o, b in zip(other, better, strict=True)]
        down += min(*moves, 0.0) ** 2
        up += max(*moves, 0.0) ** 2
    return math.exp(gain - math.sqrt(down)), math.exp(gain + math.sqrt(up))
