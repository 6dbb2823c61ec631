"""Single curves that share something and changed alike in the same segment: these are one change.

Groups are searched in all segments of their curves together, and in those that show a metric best.
What adds to the time beyond a switch only is found in each curve by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from switchpoint.history.alike import alike, within_an_octave
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
    """Yield the changes of single curves that are one, those of most curves first.

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
        first, last = sizes(some[0])
        rows = table[table["metric"] == some[0].metric]
        has_such = [
            within_an_octave(one, first) and within_an_octave(other, last)
            for one, other in zip(rows["first_size_bytes"], rows["last_size_bytes"], strict=True)
        ]
        yield from _sharing(some, compared.groups, rows["curve"].to_numpy()[has_such])


def _sharing(
    singles: Sequence[Change], groups: Sequence[Group], comparable: Indices
) -> Iterator[list[Change]]:
    """Yield changes that share something, and then the others one by one."""
    left = {int(one.curves[0]): one for one in singles}
    while len(left) > 1:
        changed = _similar(left)
        others = np.setdiff1d(comparable, changed)
        members = [np.intersect1d(group.curves, changed) for group in groups]
        most = [
            (len(own), -len(group.curves), number)
            for number, (own, group) in enumerate(zip(members, groups, strict=True))
            if len(own) >= _LEAST_SHARE * (len(own) + np.isin(others, group.curves).sum())
        ]
        count, _, number = max(most, default=(0, 0, 0))
        own = members[number] if count > 1 else changed[:1]
        yield [left.pop(int(curve)) for curve in own]
    yield from ([one] for one in left.values())


def _similar(changes: dict[int, Change]) -> Indices:
    """Return the curves that changed about as much as the one that changed most, which is first."""
    effect = {curve: min(abs(one.effect), _LARGE) for curve, one in changes.items()}
    most = max(effect.values())
    similar = [curve for curve, own in effect.items() if own >= _SIMILAR * most]
    return np.array(sorted(similar, key=lambda curve: -effect[curve]))
