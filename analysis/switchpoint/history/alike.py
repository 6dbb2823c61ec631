"""What changed in the same direction at about the same sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol, TypeVar


class _Found(Protocol):
    @property
    def effect(self) -> float:
        """The logarithm of a ratio of times."""


_F = TypeVar("_F", bound=_Found)


def alike(found: Iterable[_F], sizes: Callable[[_F], tuple[int, int]]) -> list[list[_F]]:
    """Group what changed in the same direction, both sizes within an octave of the first one's.

    Parameters
    ----------
    found
        Each with its effect.
    sizes
        Returns two sizes of one of them, in bytes; 0 is like no other size.
    """
    groups: list[list[_F]] = []
    for one in sorted(found, key=sizes):
        for group in groups:
            same_direction = (one.effect > 0) == (group[0].effect > 0)
            if same_direction and all(map(_within_an_octave, sizes(one), sizes(group[0]))):
                group.append(one)
                break
        else:
            groups.append([one])
    return groups


def _within_an_octave(one: int, other: int) -> bool:
    """Whether two sizes are about the same; 0 is like no other size."""
    return one <= 2 * other and other <= 2 * one
