"""Draws which algorithm is predicted fastest, as a coloured grid of sizes and groups."""

from __future__ import annotations

import pandas as pd

from switchpoint.reporting.figures.figure import (
    COLOURS,
    Figure,
    Plotly,
    axis,
    literal,
    plain_layout,
)
from switchpoint.tables.units import significant, size_text

TIE = "no difference"

#: The neutral colour of a tie, on which dark letters are readable in both schemes.
_NEUTRAL = "#bdbdbd"

#: Letters in cells; the reader's scheme does not change them, as it does not change the cells.
_LETTERS = "#000000"

#: In pixels: a row, the labels of both axes, and a line of the legend.
_ROW, _AXES, _ENTRY_HEIGHT = 46, 130, 20


def draw_crossovers(name: str, title: str, cells: pd.DataFrame) -> Figure:
    """Draw a cell for each size and group, coloured and lettered by the fastest algorithm.

    Parameters
    ----------
    name, title
        Of the figure.
    cells
        As from `crossovers`, of one operation, not empty. Where other algorithms are as good, the
        cell is neutral.
    """
    sizes = sorted(set(cells["size_bytes"]))
    groups = sorted(set(cells["ranks"]))
    fastest = cells["fastest"].where(cells["as_good"] == "", TIE)
    names = [*sorted(set(fastest) - {TIE}), *({TIE} & set(fastest))]
    data = [
        _trace(number, algorithm, cells[fastest == algorithm], sizes, groups)
        for number, algorithm in enumerate(names)
    ]
    return Figure(name, title, data, _layout(sizes, groups, len(data)))


def _trace(
    number: int, algorithm: str, cells: pd.DataFrame, sizes: list[int], groups: list[int]
) -> Plotly:
    """Return the cells of one algorithm as a trace of its own, so that it is in the legend."""
    colour = _NEUTRAL if algorithm == TIE else COLOURS[number % len(COLOURS)]
    letter = "=" if algorithm == TIE else chr(ord("A") + number)
    own = {
        (ranks, size): row
        for ranks, size, *row in cells[
            ["ranks", "size_bytes", "fastest", "segment_bytes", "time_us", "as_good"]
        ].itertuples(index=False)
    }
    grid = [[own.get((ranks, size)) for size in sizes] for ranks in groups]
    return {
        "type": "heatmap", "name": f"{letter}  {literal(algorithm)}",
        "x": [size_text(size) for size in sizes], "y": [str(ranks) for ranks in groups],
        "z": [[None if cell is None else number for cell in row] for row in grid],
        "text": [["" if cell is None else letter for cell in row] for row in grid],
        "customdata": [["" if cell is None else _told(*cell) for cell in row] for row in grid],
        "texttemplate": "%{text}", "textfont": {"color": _LETTERS, "size": 13},
        "colorscale": [[0, colour], [1, colour]], "showscale": False, "showlegend": True,
        "xgap": 2, "ygap": 2, "hoverongaps": False,
        "hovertemplate": "%{y} ranks, %{x}<br>%{customdata}<extra></extra>",
    }  # fmt: skip


def _told(fastest: str, segment_bytes: int, time_us: float, as_good: str) -> str:
    parts = f" in segments of {size_text(segment_bytes)}" if segment_bytes else ""
    also = f"<br>no difference from {literal(as_good)}" if as_good else ""
    return f"{literal(fastest)}{parts}: {significant(time_us)} µs{also}"


def _layout(sizes: list[int], groups: list[int], names: int) -> Plotly:
    legend = _ENTRY_HEIGHT * names + 20
    return plain_layout() | {
        "height": _ROW * len(groups) + _AXES + legend,
        "margin": {"l": 60, "r": 15, "t": 30, "b": _AXES - 30 + legend},
        "legend": {"yref": "container", "y": 0, "yanchor": "bottom", "x": 0},
        "xaxis": axis() | {
            "type": "category", "categoryorder": "array", "showgrid": False, "tickangle": -45,
            "categoryarray": [size_text(size) for size in sizes],
            "title": {"text": "Message size"},
        },
        "yaxis": axis() | {
            "type": "category", "categoryorder": "array", "showgrid": False,
            "categoryarray": [str(ranks) for ranks in groups], "title": {"text": "Ranks"},
        },
    }  # fmt: skip
