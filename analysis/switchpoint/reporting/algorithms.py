"""Words for the algorithms of collectives, in the terminal and on pages."""

from __future__ import annotations

import pandas as pd

from switchpoint.comparison.algorithms import ANOTHER

_ANOTHER = "one that was not measured"

#: More algorithms than these are no answer.
_MOST_NAMES = 3

#: No answer from times has a higher probability than this.
MOST_PROBABILITY = 0.99


def used_text(names: list[str]) -> str:
    """Name the algorithm that a library uses, or those of which it uses one.

    >>> used_text(["ring"]), used_text(["linear", "another"])
    ('ring', 'linear or one that was not measured')
    """
    if len(names) > _MOST_NAMES:
        return f"not known: {len(names)} take equally long"
    return " or ".join(_ANOTHER if name == ANOTHER else name for name in names)


def answers(table: pd.DataFrame) -> pd.Series[str]:
    """Return a text for each row: the algorithm in use, and the faster one if there is one."""
    return table["used"].map(used_text) + " " + table["fastest"].fillna("").astype(str)


def ranges(texts: pd.Series[str] | pd.DataFrame) -> pd.Series[int]:
    """Number the ranges of rows in which no text differs from that of the row before."""
    different = pd.DataFrame(texts).ne(pd.DataFrame(texts).shift())
    return different.any(axis=1).astype(int).cumsum()
