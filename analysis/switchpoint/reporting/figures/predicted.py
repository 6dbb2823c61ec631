"""Draws predicted against measured times of one kernel, with both intervals and the diagonal."""

from __future__ import annotations

import math

import pandas as pd

from switchpoint.models.gaps import ComparedCurve
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
from switchpoint.tables.columns import records
from switchpoint.tables.units import percent, size_text

#: What a trace has in common.
_TRACE = ["mpi", "environ", "placement"]

#: In pixels: the plot with its axes, and a line of the legend.
_HEIGHT, _ENTRY_HEIGHT = 480, 20

_DIAGONAL = "measured as predicted"


def draw_predicted(name: str, title: str, points: pd.DataFrame) -> Figure:
    """Draw measured over predicted times, with a trace for each MPI and placement.

    Parameters
    ----------
    name, title
        Of the figure.
    points
        As from `compare_with`, of one kernel, those that could be predicted. Open symbols are
        points whose ranks outnumber the cores.
    """
    known = [column for column in _TRACE if column in points]
    styles = Styles(points[known], [])
    ends = [
        value
        for column in ("predicted_low_us", "predicted_high_us", "measured_low_us",
                       "measured_high_us", "predicted_us", "measured_us")
        for value in points[column] if value > 0
    ]  # fmt: skip
    low, high = min(ends) / 1.3, max(ends) * 1.3
    diagonal = {
        "type": "scatter", "mode": "lines", "name": _DIAGONAL, "x": rounded([low, high]),
        "y": rounded([low, high]), "line": {"color": INK, "dash": "dash", "width": 1.2},
        "hoverinfo": "skip",
    }  # fmt: skip
    data = [diagonal]
    for series, own in styles.series(points):
        if series in styles.drawn:
            data.append(_trace(series, own, styles.look(series)))
    return Figure(name, title, data, _layout((low, high), len(data)), styles.left_out)


def _trace(series: str, points: pd.DataFrame, look: tuple[str, str, str]) -> Plotly:
    colour, _, symbol = look
    open_if_oversubscribed = [
        "-open" if oversubscribed else "" for oversubscribed in points["oversubscribed"]
    ]
    return {
        "type": "scatter", "mode": "markers", "name": literal(series),
        "x": rounded(points["predicted_us"]), "y": rounded(points["measured_us"]),
        "error_x": _bars(points, "predicted", colour),
        "error_y": _bars(points, "measured", colour),
        "marker": {"symbol": [symbol + ending for ending in open_if_oversubscribed], "size": 8,
                   "color": colour},
        "customdata": _told(points),
        "hovertemplate": "%{customdata[0]}<br>predicted %{x:.4g} µs, measured %{y:.4g} µs"
        f" (%{{customdata[1]}})<extra>{no_template(literal(series))}</extra>",
    }  # fmt: skip


def _told(points: pd.DataFrame) -> list[list[str]]:
    """Return what the tooltip of each point says: which point it is, and its error."""
    told = []
    for row in records(points, ComparedCurve):
        words = [f"{row['mode']}, {size_text(row['size_bytes'])}", str(row["ranks_on_nodes"])]
        if row["oversubscribed"]:
            words.append("ranks outnumber cores")
        told.append([literal(", ".join(words)), percent(row["error"])])
    return told


def _bars(points: pd.DataFrame, side: str, colour: str) -> Plotly:
    """Return an interval as error bars."""
    middle, low, high = (
        points[f"{side}{end}_us"].astype(float) for end in ("", "_low", "_high")
    )  # fmt: skip
    return {
        "type": "data", "symmetric": False, "color": colour, "thickness": 1, "width": 0,
        "array": rounded((high - middle).clip(lower=0)),
        "arrayminus": rounded((middle - low).clip(lower=0)),
    }  # fmt: skip


def _layout(ends: tuple[float, float], names: int) -> Plotly:
    legend = _ENTRY_HEIGHT * names + 16
    scale = axis() | {
        "type": "log",
        "range": [math.log10(end) for end in ends],
        "minor": {"dtick": "D1", "showgrid": True, "gridcolor": FAINT_GRID},
        **value_ticks(*ends),
    }
    return plain_layout() | {
        "height": _HEIGHT + legend,
        "margin": {"l": 80, "r": 15, "t": 30, "b": 70 + legend},
        "legend": {"yref": "container", "y": 0, "yanchor": "bottom", "x": 0},
        "xaxis": scale | {"title": {"text": "Predicted time / µs"}},
        "yaxis": scale | {"title": {"text": "Measured time / µs"}},
    }
