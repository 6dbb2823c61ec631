"""Laws from a setting's value to the last size before a switch."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from fractions import Fraction

#: A limit is the value itself, or a share of it, such as half of a buffer.
_FACTORS = [Fraction(1), *(Fraction(1, 2**n) for n in range(1, 4)), *map(Fraction, (2, 4, 8))]

#: Values may be rounded to whole multiples of these: down, and up if negative.
_GRAINS_BYTES = [grain for n in range(3, 13) for grain in (2**n, -(2**n))]

#: With so many laws to choose from, one that rounds must hold for more values than others need.
_LEAST_ROUNDED = 3


@dataclass(frozen=True)
class Law:
    """The last size before the switch is `factor` times the value, rounded down, plus `offset`.

    The value is rounded to whole multiples of `grain` bytes first: down, or up if it is negative.
    """

    factor: Fraction
    offset: int
    grain: int = 1

    def __call__(self, value: int) -> int:
        """Return the last size, in bytes, for a value in bytes."""
        whole = value // self.grain * self.grain
        return whole * self.factor.numerator // self.factor.denominator + self.offset

    @property
    def text(self) -> str:
        """The law in words that follow the value."""
        rounded = ""
        if self.grain != 1:
            way = "down" if self.grain > 0 else "up"
            rounded = f"rounded {way} to a multiple of {abs(self.grain):,} B "
        share = "" if self.factor == 1 else f"times {self.factor} "
        if self.offset == 0:
            return f"{rounded}{share}".strip() or "itself"
        word = "less" if self.offset < 0 else "plus"
        return f"{rounded}{share}{word} {abs(self.offset):,} B"


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
    plain = Law(Fraction(1), last - value)
    best = plain, {other for other, there in moved if plain(other) == there}
    shares = [(factor, 1) for factor in _FACTORS]
    rounded = [(Fraction(1), grain) for grain in _GRAINS_BYTES]
    for factor, grain in [*shares, *rounded]:
        law = Law(factor, last - Law(factor, 0, grain)(value), grain)
        holds = {other for other, there in moved if law(other) == there}
        if len(holds) > len(best[1]) and (grain == 1 or len(holds) >= _LEAST_ROUNDED):
            best = law, holds
    return best
