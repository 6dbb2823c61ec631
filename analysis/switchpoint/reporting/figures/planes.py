"""Draws efficiency planes as study 002 does: over the grain and the number of ranks."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd

from switchpoint.models.planes import Plane
from switchpoint.reporting.figures.figure import INK, Figure, Plotly, axis, plain_layout
from switchpoint.reporting.figures.traces import rounded
from switchpoint.tables.units import percent, significant

#: In pixels: the planes with their axes, and the legend.
_HEIGHT, _LEGEND_HEIGHT = 400, 30

_GAP = 0.04

#: From no efficiency to all of it. Dark letters are readable on all of them, in both schemes.
_COLOURS = {
    "colorscale": [[0, "#f3b78e"], [0.5, "#f2efe9"], [1, "#7fb5dd"]],
    "showscale": False,
}
_LETTERS = "#000000"

#: Symbols of measured points: with a core for each rank, and with fewer cores than ranks.
_SYMBOLS = {False: ("measured", "circle"), True: ("measured, ranks outnumber cores", "square")}


def draw_planes(name: str, title: str, planes: Sequence[Plane], measured: pd.DataFrame) -> Figure:
    """Draw a plane for each message length, with the measured points on top in the same colours.

    Parameters
    ----------
    name, title
        Of the figure.
    planes
        As from `efficiency_planes`.
    measured
        As from `measured_efficiency`; those of other message lengths are not drawn.
    """
    data: list[Plotly] = []
    named: set[str] = set()
    for number, plane in enumerate(planes, start=1):
        axes = {"xaxis": f"x{number}", "yaxis": f"y{number}"} if number > 1 else {}
        data.append(_plane(plane) | axes)
        own = measured[measured["words"] == plane.words]
        for oversubscribed, (words, symbol) in _SYMBOLS.items():
            points = own[own["oversubscribed"].astype(bool) == oversubscribed]
            if len(points):
                shown = {"showlegend": words not in named, "name": words, "legendgroup": words}
                data.append(_points(points, symbol) | axes | shown)
                named.add(words)
    return Figure(name, title, data, _layout(planes, measured))


def _plane(plane: Plane) -> Plotly:
    return {
        "type": "contour",
        "zmin": 0,
        "zmax": 1,
        "x": rounded(plane.tasks_us / 1000),
        "y": plane.ranks,
        "z": [[round(value, 4) for value in row] for row in plane.efficiency.tolist()],
        **_COLOURS,
        "contours": {
            "start": 0.1,
            "end": 0.9,
            "size": 0.1,
            "showlabels": True,
            "labelfont": {"color": _LETTERS, "size": 12},
        },
        "line": {"width": 0.5, "color": _LETTERS},
        "hovertemplate": "%{y} ranks, T = %{x:.3g} ms: efficiency %{z:.2f}<extra></extra>",
    }


def _points(points: pd.DataFrame, symbol: str) -> Plotly:
    return {
        "type": "scatter", "mode": "markers",
        "x": rounded(points["task_us"] / 1000), "y": points["ranks"].tolist(),
        "marker": {
            "symbol": symbol, "size": 13, "color": rounded(points["efficiency"]),
            "cmin": 0, "cmax": 1, **_COLOURS, "line": {"color": _LETTERS, "width": 1.5},
        },
        "customdata": [
            [significant(found, 2), significant(predicted, 2), percent(found / predicted - 1)]
            for found, predicted in zip(points["efficiency"], points["predicted"], strict=True)
        ],
        "hovertemplate": "%{y} ranks, T = %{x:.3g} ms<br>measured %{customdata[0]}, predicted"
        " %{customdata[1]} (%{customdata[2]})<extra></extra>",
    }  # fmt: skip


def _layout(planes: Sequence[Plane], measured: pd.DataFrame) -> Plotly:
    width = (1 - _GAP * (len(planes) - 1)) / len(planes)
    tasks_ms = [
        *(value / 1000 for plane in planes for value in (plane.tasks_us[0], plane.tasks_us[-1])),
        *(measured["task_us"] / 1000),
    ]
    span = [math.log10(min(tasks_ms)), math.log10(max(tasks_ms))]
    layout: Plotly = plain_layout() | {
        "height": _HEIGHT + _LEGEND_HEIGHT,
        "margin": {"l": 60, "r": 20, "t": 56, "b": 70 + _LEGEND_HEIGHT},
        "legend": {"orientation": "h", "yref": "container", "y": 0, "yanchor": "bottom", "x": 0},
        "annotations": [],
    }  # fmt: skip
    ranks = [count for count in planes[0].ranks if count & (count - 1) == 0]
    for index, plane in enumerate(planes):
        suffix, left = str(index + 1) if index else "", index * (width + _GAP)
        layout[f"xaxis{suffix}"] = axis() | {
            "type": "log", "range": span, "domain": [left, left + width], "anchor": f"y{suffix}",
            "dtick": 1, "exponentformat": "power", "title": {"text": "T / ms"},
        }  # fmt: skip
        layout[f"yaxis{suffix}"] = axis() | {
            "type": "log", "anchor": f"x{suffix}", "tickvals": ranks,
            "ticktext": [str(count) for count in ranks], "showticklabels": index == 0,
            "range": [math.log10(planes[0].ranks[0]) - 0.06, math.log10(ranks[-1])],
            "title": {"text": "" if index else "Ranks"},
        }  # fmt: skip
        words = "word" if plane.words == 1 else "words"
        layout["annotations"].append(
            {"text": f"<b>L = {plane.words:,} {words}</b>", "xref": "paper", "yref": "paper",
             "x": left, "y": 1, "xanchor": "left", "yanchor": "bottom", "showarrow": False,
             "font": {"color": INK}}
        )  # fmt: skip
    return layout
