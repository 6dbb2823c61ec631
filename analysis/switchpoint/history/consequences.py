"""What follows from a change of latency or bandwidth, and belongs in its finding.

A link at half its speed limits from a smaller size on, so the place where the curve changes its
slope moves, and sizes near it are further off than two lines say. These are not causes of their
own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import compress

import numpy as np

from switchpoint.history.alike import first_fit
from switchpoint.history.odd_sizes import OddSizes
from switchpoint.history.parameters import NOISE, Parameters
from switchpoint.history.search import Change
from switchpoint.history.switches import MovedSwitch


def causes_of(changes: Iterable[Change]) -> list[list[Change]]:
    """Group changes of which one explains the others; the one that explains them comes first.

    These are both metrics of the same curves in the same direction. If one metric changed in some
    curves only, or in some by more than in others, and the other in all of them by more, it is the
    same change.
    """

    def belongs(group: list[Change], change: Change) -> bool:
        return not any(_overlap(one, change) for one in group) and _explains(group[0], change)

    return first_fit(sorted(changes, key=lambda one: (-len(one.curves), one.p)), belongs)


def _overlap(one: Change, other: Change) -> bool:
    """Return whether both are changes of one metric of one curve."""
    return one.metric == other.metric and bool(np.isin(one.curves, other.curves).any())


def _explains(main: Change, change: Change) -> bool:
    if NOISE in (main.metric, change.metric) or (main.effect > 0) != (change.effect > 0):
        return False
    if np.array_equal(main.curves, change.curves):
        return True
    larger = abs(main.effect) >= abs(change.effect)
    return larger and bool(np.isin(change.curves, main.curves).all())


@dataclass(frozen=True)
class Beside:
    """What changed beside the parameters.

    Attributes
    ----------
    moved : list of MovedSwitch
    odd : list of OddSizes
    """

    moved: list[MovedSwitch]
    odd: list[OddSizes]


def divided(
    beside: Beside, cause: Sequence[Change], parameters: Parameters
) -> tuple[Beside, Beside]:
    """Return which moved switches and odd sizes follow from a cause, and the others.

    A switch follows if the latency or bandwidth of the curve changed in the segment on either side
    of it, and the sizes that it moved across changed in the same direction. Odd sizes follow if
    they are in such a curve, in the same direction, and by no more than the change itself; or it is
    one size beside a switch, which then moved by one size; or they go on where a segment that
    changed ends, such as one that a link limits.

    Parameters
    ----------
    beside
        What no other cause explains.
    cause
        Changes that are one finding.
    parameters
        Of all curves.
    """
    if cause[0].metric == NOISE:
        return Beside([], []), beside
    slower = cause[0].effect > 0
    rows = np.concatenate([change.rows for change in cause])
    changed = np.unique(parameters.table["segment"].to_numpy()[rows])
    curves = np.unique(np.concatenate([change.curves for change in cause]))
    largest = max(abs(change.effect) for change in cause)
    follows = [
        (one.effect > 0) == slower and bool(np.isin(one.segments, changed).any())
        for one in beside.moved
    ]
    belongs = [
        (one.effect > 0) == slower
        and (
            abs(one.effect) <= largest
            or one.beside_switch
            or bool(np.isin(one.beside, changed).any())
        )
        and one.curve in curves
        for one in beside.odd
    ]
    return (
        Beside([*compress(beside.moved, follows)], [*compress(beside.odd, belongs)]),
        Beside(
            [*compress(beside.moved, np.logical_not(follows))],
            [*compress(beside.odd, np.logical_not(belongs))],
        ),
    )
