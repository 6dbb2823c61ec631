"""Groups of what belongs together, such as what changed at about the same sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from switchpoint.tables.sweeps import Indices


class _Found(Protocol):
    @property
    def effect(self) -> float:
        """The logarithm of a ratio of times."""


_T = TypeVar("_T")
_F = TypeVar("_F", bound=_Found)


def first_fit(found: Iterable[_T], belongs: Callable[[list[_T], _T], bool]) -> list[list[_T]]:
    """Put each one into the first group that it belongs to, or else into a group of its own."""
    groups: list[list[_T]] = []
    for one in found:
        for group in groups:
            if belongs(group, one):
                group.append(one)
                break
        else:
            groups.append([one])
    return groups


def alike(found: Iterable[_F], sizes: Callable[[_F], tuple[int, int]]) -> list[list[_F]]:
    """Group what changed in the same direction, both sizes within an octave of the first one's.

    Parameters
    ----------
    found
        Each with its effect.
    sizes
        Returns two sizes of one of them, in bytes; 0 is like no other size.
    """

    def belongs(group: list[tuple[tuple[int, int], _F]], one: tuple[tuple[int, int], _F]) -> bool:
        (own, change), (others, first) = one, group[0]
        same_direction = (change.effect > 0) == (first.effect > 0)
        return same_direction and bool(within_an_octave(np.array(own), np.array(others)).all())

    sized = sorted(((sizes(one), one) for one in found), key=lambda pair: pair[0])
    return [[one for _, one in group] for group in first_fit(sized, belongs)]


def within_an_octave(sizes: Indices, others: Indices | int) -> npt.NDArray[np.bool_]:
    """Whether each size is about the other one; 0 is like no other size."""
    return np.asarray((sizes <= 2 * others) & (others <= 2 * sizes))
