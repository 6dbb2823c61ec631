"""Gives each series of a figure a name, a colour, a dash and a symbol."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from switchpoint.reporting.figures.figure import COLOURS, cut
from switchpoint.tables.naming import short, telling_columns, worded

_DASHES = ["solid", "dash", "dot", "dashdot", "longdash", "longdashdot"]
_SYMBOLS = ["circle", "square", "diamond", "triangle-up", "x", "star"]

#: So many curves are visible at first, and so many are in a figure at all: more would make the
#: page slow, and they are on the pages of their runs.
_MOST_VISIBLE = 12
_MOST_DRAWN = 60


class Styles:
    """Gives each series of a figure the same name, colour, dash and symbol in all panels.

    Runs that nothing else distinguishes are named by `runs`, their names by their IDs.

    Attributes
    ----------
    visible, drawn : set of str
        The names of the series that are visible at first, and of all that the figure contains.
    left_out : int
        How many names are not drawn.
    """

    def __init__(
        self, curves: pd.DataFrame, told: list[str], runs: Mapping[str, str] | None = None
    ) -> None:
        self._runs = runs or {}
        self._columns = telling_columns(curves, told)
        self._names = list(dict.fromkeys(map(self._name, self._heads(curves))))
        self.visible = set(self._names[:_MOST_VISIBLE])
        self.drawn = set(self._names[:_MOST_DRAWN])
        self.left_out = len(self._names) - len(self.drawn)

    def series(self, panel: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
        """Yield each series of a panel with its points."""
        if not self._columns:
            yield "all", panel
            return
        number = panel.groupby(self._columns, dropna=False, observed=True, sort=False).ngroup()
        heads = self._heads(panel)
        order = np.argsort(number.to_numpy(), kind="stable")
        ends = np.cumsum(np.bincount(number)).tolist()
        for head, start, end in zip(heads, [0, *ends], ends, strict=False):
            yield self._name(head), panel.iloc[order[start:end]]

    def _heads(self, curves: pd.DataFrame) -> list[tuple[Any, ...]]:
        """Return the values that name each series, in order."""
        heads = curves[self._columns].drop_duplicates().astype(object)
        return list(heads.itertuples(index=False, name=None)) if self._columns else [()]

    def _name(self, head: tuple[Any, ...]) -> str:
        words = [
            self._runs.get(value, short(name, value)) if name == "run_id" else worded(name, value)
            for name, value in zip(self._columns, head, strict=True)
            if isinstance(value, str)
        ]
        return cut(", ".join(words) or "all")

    def look(self, series: str) -> tuple[str, str, str]:
        """Return colour, dash and symbol. They cycle separately, so that many series differ."""
        index = self._names.index(series)
        turn = index // len(COLOURS)
        return (
            COLOURS[index % len(COLOURS)],
            _DASHES[(index + turn) % len(_DASHES)],
            _SYMBOLS[(index + 2 * turn) % len(_SYMBOLS)],
        )
