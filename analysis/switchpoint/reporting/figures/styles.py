"""Gives each series of a figure a name and a look of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from switchpoint.reporting.figures.figure import COLOURS
from switchpoint.tables.naming import short, telling_columns

_DASHES = ["solid", "dash", "dot", "dashdot", "longdash", "longdashdot"]
_SYMBOLS = ["circle", "square", "diamond", "triangle-up", "x", "star"]


class Styles:
    """Gives each series of a figure one name, colour, dash and symbol in all panels."""

    def __init__(self, curves: pd.DataFrame, told: list[str]) -> None:
        self._columns = telling_columns(curves, told)
        self._names: list[str] = []
        for name, _ in self.series(curves):
            if name not in self._names:
                self._names.append(name)

    def series(self, panel: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
        """Each series of a panel, with its points."""
        if not self._columns:
            yield "all", panel
            return
        for values, points in panel.groupby(self._columns, dropna=False, observed=True):
            words = [
                short(name, value)
                for name, value in zip(self._columns, values, strict=True)
                if isinstance(value, str)
            ]
            yield ", ".join(words) or "all", points

    def look(self, series: str) -> tuple[str, str, str]:
        """Colour, dash and symbol; the three cycle apart, so that many series stay different."""
        index = self._names.index(series)
        turn = index // len(COLOURS)
        return (
            COLOURS[index % len(COLOURS)],
            _DASHES[(index + turn) % len(_DASHES)],
            _SYMBOLS[(index + 2 * turn) % len(_SYMBOLS)],
        )
