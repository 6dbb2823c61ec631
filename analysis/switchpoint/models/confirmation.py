"""What launches with a rule and without it showed: whether the rule wins."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Checked:
    """Measured times in microseconds with a rule and without it, in launches by turns.

    Attributes
    ----------
    with_us, without_us : tuple of float
        Median, and its 95 % interval.
    launches : int
        Of the side with fewer.
    """

    with_us: tuple[float, float, float]
    without_us: tuple[float, float, float]
    launches: int

    @property
    def wins(self) -> bool:
        """Whether the interval with the rule ends before that without it."""
        return self.with_us[2] < self.without_us[1]

    @property
    def gain(self) -> float:
        """The time without the rule divided by that with it."""
        return self.without_us[0] / self.with_us[0]

    @property
    def gain_interval(self) -> tuple[float, float]:
        """The least and the most gain that both intervals allow; it wins if both are above 1."""
        return self.without_us[1] / self.with_us[2], self.without_us[2] / self.with_us[1]
