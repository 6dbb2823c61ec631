"""Laws from a setting's value to the last size before a switch."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from fractions import Fraction

#: A limit is the value itself, or a share of it, such as half of a buffer.
_FACTORS = [Fraction(1), *(Fraction(1, 2**n) for n in range(1, 4)), *map(Fraction, (2, 4, 8))]


@dataclass(frozen=True)
class Law:
    """The last size before the switch is `factor` times the value, rounded down, plus `offset`."""

    factor: Fraction
    offset: int

    def __call__(self, value: int) -> int:
        """Return the last size, in bytes, for a value in bytes."""
        return value * self.factor.numerator // self.factor.denominator + self.offset

    @property
    def text(self) -> str:
        """The law in words that follow the value."""
        share = "" if self.factor == 1 else f"times {self.factor} "
        if self.offset == 0:
            return f"{share}itself" if not share else share.strip()
        word = "less" if self.offset < 0 else "plus"
        return f"{share}{word} {abs(self.offset):,} B"


def law_of(value: int, last: int, moved: Collection[tuple[int, int]]) -> tuple[Law, set[int]]:
    """Return the law that holds to the byte for the most other values, the simplest first.

    Parameters
    ----------
    value, last
        The value in use and the last size before the switch, both in bytes.
    moved
        Other values and the last sizes with them.

    Returns
    -------
    law, values
        The law, which holds for the value in use by construction, and the other values for which
        it holds.
    """
    best = Law(Fraction(1), last - value), set[int]()
    for factor in _FACTORS:
        law = Law(factor, last - Law(factor, 0)(value))
        holds = {other for other, there in moved if law(other) == there}
        if factor == 1 or len(holds) > len(best[1]):
            best = law, holds
    return best
