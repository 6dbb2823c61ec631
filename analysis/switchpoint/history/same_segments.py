"""Single curves that share something and changed alike in the same segment: these are one change.

Groups are searched in all segments of their curves together, and in those that show a metric best.
What adds to the time beyond a switch only is found in each curve by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from switchpoint.history.alike import alike, within_an_octave
from switchpoint.history.compared import LARGE, LEAST_SHARE, Change, Compared
from switchpoint.history.factors import Group
from switchpoint.tables.sweeps import Indices

#: A change is at least this share of the largest.
_SIMILAR = 0.5


def in_the_same_segments(singles: Sequence[Change], compared: Compared) -> Iterator[list[Change]]:
    """Yield the changes of single curves, together those that are one.

    Parameters
    ----------
    singles
        Changes of one metric, of one curve each.
    compared
        All parameters.
    """
    table = compared.parameters.table
    columns = ("metric", "curve", "first_size_bytes", "last_size_bytes")
    metric, curve, first_size, last_size = (table[name].to_numpy() for name in columns)

    def sizes(one: Change) -> tuple[int, int]:
        return int(first_size[one.rows].min()), int(last_size[one.rows].max())

    for some in alike(singles, sizes):
        if len(some) == 1:
            yield some
            continue
        first, last = sizes(some[0])
        such = (
            (metric == some[0].metric)
            & within_an_octave(first_size, first)
            & within_an_octave(last_size, last)
        )
        yield from _sharing(some, compared.groups, curve[such])


def _sharing(
    singles: Sequence[Change], groups: Sequence[Group], comparable: Indices
) -> Iterator[list[Change]]:
    """Yield changes that share something, and then the others one by one.

    Parameters
    ----------
    singles
        Each of another curve.
    groups
        The curves that share something.
    comparable
        The curves that could have changed so.
    """
    singles = sorted(singles, key=lambda one: -abs(one.effect))
    curve = np.array([one.curves[0] for one in singles])
    others = np.setdiff1d(comparable, curve)
    # Of each group: which of the singles it has, and how many curves that did not change.
    has = np.array([np.isin(curve, group.curves) for group in groups])
    unchanged = np.array([np.isin(others, group.curves).sum() for group in groups])
    size = np.array([len(group.curves) for group in groups])
    effect = np.array([min(abs(one.effect), LARGE) for one in singles])
    left = np.ones(len(singles), dtype=bool)
    while left.any():
        largest = int(np.argmax(left))
        similar = left & (effect >= _SIMILAR * effect[largest])
        count = (has & similar).sum(axis=1)
        count[count < LEAST_SHARE * ((has & left).sum(axis=1) + unchanged)] = 0
        best = np.lexsort((size, -count))[0]
        own = similar & has[best] if count[best] > 1 else np.arange(len(left)) == largest
        left &= ~own
        yield [singles[number] for number in np.flatnonzero(own)]
