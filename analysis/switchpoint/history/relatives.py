"""Curves that share something with a group that changed, and changed alike, but not surely enough.

That a group changed makes it likelier that such a curve did, so less is asked of it than of a curve
by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from switchpoint.history.compared import Change
from switchpoint.history.factors import Group
from switchpoint.history.scatter import Judged
from switchpoint.tables.sweeps import Indices

#: The probability that of all curves that share something with a group, but did not change, one or
#: more are told with it (Bonferroni).
_BY_CHANCE = 0.05

#: The change of such a curve is at least this share of the group's.
_ALIKE = 0.5


def relatives(
    change: Change,
    groups: Sequence[Group],
    judged: Judged,
    rows_of: Callable[[Indices], Indices],
) -> Indices:
    """Return the parameters of curves that changed like a group with which they share something.

    Parameters
    ----------
    change
        Of the group.
    groups
        All of them.
    judged
        All parameters.
    rows_of
        Returns the parameters of some curves in the same metric that no change explains yet.
    """
    found: list[Indices] = []
    for parent in _parents(change, groups):
        rows = rows_of(parent.curves)
        alike = judged.effect[rows] / change.effect >= _ALIKE
        sure = judged.p[rows] <= _BY_CHANCE / max(len(rows), 1)
        found.append(rows[alike & sure])
    return np.unique(np.concatenate(found)) if found else np.zeros(0, dtype=np.intp)


def joined(change: Change, rows: Indices, curves: Indices, groups: Sequence[Group]) -> Change:
    """Return a group's change with some more parameters, and the curve of each of them."""
    every = np.union1d(change.curves, curves)
    shared = {**change.shared}
    for parent in _parents(change, groups):
        if not np.isin(every, parent.curves).all():
            shared = {name: shared[name] for name in shared.keys() - parent.shared.keys()}
    return replace(change, rows=np.union1d(change.rows, rows), curves=every, shared=shared)


def _parents(change: Change, groups: Sequence[Group]) -> Iterator[Group]:
    """Yield the larger groups that share one of the things that a group shares."""
    for group in groups:
        if len(group.shared) == 1 and group.shared.items() <= change.shared.items():
            yield group
