"""Which sessions are not compared: those of maintenance, and those that a clock put ahead."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pandas as pd

from switchpoint.history.policy import Maintenance, maintenance_at

#: More sessions are not named.
_MOST_NAMED = 3


def usual(
    sessions: Iterable[str], starts: pd.Series[str], maintenance: Sequence[Maintenance]
) -> list[str]:
    """Return the sessions outside of maintenance, oldest first."""
    usual = [one for one in sessions if maintenance_at(str(starts[one]), maintenance) is None]
    return sorted(usual, key=lambda name: str(starts[name]))


def of_the_future(starts: pd.Series[str]) -> list[str]:
    """Say in one sentence which sessions do not count, because their start is yet to come."""
    if starts.empty:
        return []
    names = ", ".join(f"`{name}`" for name in starts.index[:_MOST_NAMED])
    more = f" and {len(starts) - _MOST_NAMED} more" if len(starts) > _MOST_NAMED else ""
    return [
        f"sessions in the future do not count: {names}{more}, from {str(starts.min())[:10]} on; the"
        " clock that dated them was ahead"
    ]
