"""Draws time and efficiency over the number of ranks."""

from __future__ import annotations

import pandas as pd

from switchpoint.models.scaling import SERIES
from switchpoint.reporting.figures.figure import (
    FAINT_GRID,
    INK,
    Figure,
    Plotly,
    axis,
    literal,
    no_template,
    plain_layout,
    value_ticks,
)
from switchpoint.reporting.figures.styles import Styles
from switchpoint.reporting.figures.traces import rounded
from switchpoint.tables.units import size_text

#: In pixels: the panels with their axes, and a line of the legend, which scrolls if it is long.
_HEIGHT, _ENTRY_HEIGHT, _MOST_ENTRIES = 420, 20, 12

_DOMAINS = ([0, 0.41], [0.6, 1])

#: What each panel shows.
_PANELS = {"time_us": "Time / µs", "efficiency": "Efficiency"}


def draw_scaling(name: str, title: str, points: pd.DataFrame) -> Figure:
    """Draw the time on the left and the efficiency on the right.

    Parameters
    ----------
    name, title
        Of the figure.
    points
        As from `scaling`, of one kind of scaling, not empty.
    """
    styles = Styles(points[SERIES], [])
    data: list[Plotly] = []
    for number, (column, words) in enumerate(_PANELS.items(), start=1):
        axes = {"xaxis": f"x{number}", "yaxis": f"y{number}"} if number > 1 else {}
        for series, own in styles.series(points):
            if series in styles.drawn:
                visible = True if series in styles.visible else "legendonly"
                shown = {"showlegend": number == 1, "visible": visible}
                data.append(_line(series, own, column, words, styles) | axes | shown)
    ranks = sorted(set(points["ranks"]))
    times = points["time_us"]
    ticks = value_ticks(times.min(), times.max())
    layout = _layout(ranks, ticks, min(len(styles.drawn), _MOST_ENTRIES))
    return Figure(name, title, data, layout, styles.left_out)


def _line(series: str, points: pd.DataFrame, column: str, words: str, styles: Styles) -> Plotly:
    colour, dash, symbol = styles.look(series)
    what, _, unit = words.partition(" / ")
    return {
        "type": "scatter", "mode": "lines+markers", "name": literal(series),
        "legendgroup": literal(series),
        "x": points["ranks"].tolist(), "y": rounded(points[column]),
        "line": {"color": colour, "dash": dash, "width": 1.8},
        "marker": {"symbol": symbol, "size": 7, "color": colour},
        "customdata": [size_text(size) for size in points["size_bytes"]],
        "hovertemplate": f"%{{x}} ranks, messages of %{{customdata}}: {what.lower()} %{{y:.3g}}"
        f" {unit}<extra>{no_template(literal(series))}</extra>",
    }  # fmt: skip


def _layout(ranks: list[int], ticks: Plotly, names: int) -> Plotly:
    legend = _ENTRY_HEIGHT * names + 24
    layout = plain_layout() | {
        "height": _HEIGHT + legend,
        "margin": {"l": 80, "r": 15, "t": 30, "b": 70 + legend},
        "legend": {"yref": "container", "y": 0, "yanchor": "bottom", "x": 0, "itemwidth": 50,
                   "maxheight": legend, "tracegroupgap": 0},
        "shapes": [
            {"type": "line", "xref": "x2 domain", "yref": "y2", "x0": 0, "x1": 1, "y0": 1, "y1": 1,
             "line": {"color": INK, "dash": "dot", "width": 1}}
        ],
    }  # fmt: skip
    for index, words in enumerate(_PANELS.values()):
        suffix = str(index + 1) if index else ""
        layout[f"xaxis{suffix}"] = axis() | {
            "type": "log", "domain": _DOMAINS[index], "anchor": f"y{suffix}", "tickvals": ranks,
            "ticktext": [f"{count:,}" for count in ranks], "title": {"text": "Ranks"},
        }  # fmt: skip
        layout[f"yaxis{suffix}"] = axis() | {
            "anchor": f"x{suffix}", "title": {"text": words},
        } | (
            {"type": "log", **ticks,
             "minor": {"dtick": "D1", "showgrid": True, "gridcolor": FAINT_GRID}}
            if index == 0 else {"rangemode": "tozero"}
        )  # fmt: skip
    return layout
