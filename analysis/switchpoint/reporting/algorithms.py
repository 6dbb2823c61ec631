"""Words for the algorithms of collectives, in the terminal and on pages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pandas as pd

from switchpoint.comparison.algorithms import ANOTHER
from switchpoint.tables.units import range_text

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


class Answered(NamedTuple):
    """A range of sizes with one answer: its words, and its rows of `algorithms`."""

    sizes: str
    used: str
    probability: str
    rows: pd.DataFrame


def answered(table: pd.DataFrame) -> Iterator[Answered]:
    """Yield the ranges of sizes of one curve in which the answer is the same."""
    for _, rows in table.groupby(ranges(answers(table))):
        yield Answered(
            range_text(rows["size_bytes"].iloc[0], rows["size_bytes"].iloc[-1]),
            used_text(rows["used"].iloc[0]),
            f"{100 * min(rows['probability'].min(), MOST_PROBABILITY):.0f} %",
            rows,
        )


def ranges(texts: pd.Series[str] | pd.DataFrame) -> pd.Series[int]:
    """Number the ranges of rows in which no text differs from that of the row before."""
    different = pd.DataFrame(texts).ne(pd.DataFrame(texts).shift())
    return different.any(axis=1).astype(int).cumsum()
