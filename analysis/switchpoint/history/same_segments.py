"""Single curves that share something and changed alike in the same segment: these are one change.

Groups are searched in all segments of their curves together, and in those that show a metric best.
What adds to the time beyond a switch only is found in each curve by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from switchpoint.history.alike import alike
from switchpoint.history.compared import Change, Compared
from switchpoint.history.factors import Group
from switchpoint.tables.sweeps import Indices

#: Of the curves of a group that have such a segment, at least this share changed.
_LEAST_SHARE = 0.6

#: A change is at least this share of the largest, of which at most `_LARGE` counts: one mode may
#: become twice as slow, and another twenty times.
_SIMILAR = 0.5
_LARGE = 0.4


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

    def sizes(one: Change) -> tuple[int, int]:
        own = table.iloc[one.rows]
        return int(own["first_size_bytes"].min()), int(own["last_size_bytes"].max())

    for some in alike(singles, sizes):
        if len(some) == 1:
            yield some
            continue
        first, last = sizes(some[0])
        such = (
            (table["metric"] == some[0].metric)
            & table["first_size_bytes"].between(first / 2, 2 * first)
            & table["last_size_bytes"].between(last / 2, 2 * last)
        )
        yield from _sharing(some, compared.groups, table["curve"].to_numpy()[such])


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
    effect = np.array([min(abs(one.effect), _LARGE) for one in singles])
    left = np.ones(len(singles), dtype=bool)
    while left.any():
        largest = int(np.argmax(left))
        similar = left & (effect >= _SIMILAR * effect[largest])
        count = (has & similar).sum(axis=1)
        count[count < _LEAST_SHARE * ((has & left).sum(axis=1) + unchanged)] = 0
        best = np.lexsort((size, -count))[0]
        own = similar & has[best] if count[best] > 1 else np.arange(len(left)) == largest
        left &= ~own
        yield [singles[number] for number in np.flatnonzero(own)]
