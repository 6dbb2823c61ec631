"""Says whether one prediction is surely faster than another one.

The intervals of two predictions have the same cause, the scatter of the same links, which does not
matter for which of them is faster. They are therefore compared bound by bound.
"""

from __future__ import annotations

from switchpoint.models.prediction import Prediction

#: A smaller gain is within the errors of predictions (docs/reference/models.md).
LEAST_GAIN = 1.1


def gain_interval(better: Prediction, other: Prediction) -> tuple[float, float]:
    """Return the least and the most time of `other`, divided by that of `better`, of the bounds."""
    gains = [
        getattr(other, name) / max(getattr(better, name), 1e-9)
        for name in ("low_us", "time_us", "high_us")
    ]
    return min(gains), max(gains)


def surely_faster(better: Prediction, other: Prediction) -> bool:
    """Return whether the gain is more than the errors of predictions at each bound."""
    return gain_interval(better, other)[0] > LEAST_GAIN
