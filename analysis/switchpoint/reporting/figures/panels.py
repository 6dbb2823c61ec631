"""The axes and headings of a figure's panels."""

from __future__ import annotations

import numpy as np
import pandas as pd

from switchpoint.reporting.figures.figure import (
    FAINT_GRID,
    Plotly,
    axis,
    cut,
    literal,
    plain_layout,
    size_ticks,
)
from switchpoint.reporting.figures.metrics import Metric
from switchpoint.tables.units import size_text

#: In pixels: of the panels with their axes, of the labels below them, of a line of the legend.
_PANEL_HEIGHT = 440
_AXIS_HEIGHT = 90
_ENTRY_HEIGHT = 20

#: A legend shows so many lines at once.
_MOST_ENTRIES = 12


def panel_layout(headings: list[str], curves: pd.DataFrame, metric: Metric, names: int) -> Plotly:
    """Return Plotly's layout of adjacent panels with headings and a common range of values.

    The legend of `names` lines is below them in its own part of the height, and scrolls if it is
    long, so that it never covers an axis.
    """
    count = len(headings)
    legend_height = _ENTRY_HEIGHT * min(names, _MOST_ENTRIES) + 24
    gap = 0.03
    width = (1 - gap * (count - 1)) / count
    layout: Plotly = plain_layout() | {
        "height": _PANEL_HEIGHT + legend_height,
        "margin": {"l": 70, "r": 15, "t": 56, "b": _AXIS_HEIGHT + legend_height},
        "legend": {
            "yref": "container", "y": 0, "yanchor": "bottom", "x": 0, "itemwidth": 50,
            "maxheight": legend_height, "tracegroupgap": 0,
        },
        "annotations": [],
    }  # fmt: skip
    ticks = size_ticks(
        curves["size_bytes"].min(), curves["size_bytes"].max(), 16 // count if count > 1 else 14
    )
    ends = [*metric.of(curves, "low_us"), *metric.of(curves, "high_us")]
    for index, heading in enumerate(headings):
        suffix = str(index + 1) if index else ""
        left = index * (width + gap)
        layout[f"xaxis{suffix}"] = _size_axis(ticks, [left, left + width], f"y{suffix}")
        layout[f"yaxis{suffix}"] = _value_axis(metric, ends, f"x{suffix}", first=index == 0)
        layout["annotations"].append(_heading(heading, left))
    return layout


def _size_axis(ticks: list[int], domain: list[float], anchor: str) -> Plotly:
    return axis() | {
        "title": {"text": "Message size / B"},
        "type": "log",
        "domain": domain,
        "anchor": anchor,
        "tickvals": ticks,
        "ticktext": [size_text(tick) for tick in ticks],
        "tickangle": -45,
    }


def _value_axis(metric: Metric, ends: list[float], anchor: str, *, first: bool) -> Plotly:
    """Return an axis of time or bandwidth. Only the first panel's has text; all share its range."""
    return (
        axis()
        | {
            "title": {"text": metric.title if first else ""},
            "type": "log",
            "anchor": anchor,
            "range": [float(np.log10(min(ends))) - 0.08, float(np.log10(max(ends))) + 0.12],
            "dtick": 1,
            "minor": {"dtick": "D1", "showgrid": True, "gridcolor": FAINT_GRID},
            "exponentformat": "none",
            "separatethousands": True,
            "showticklabels": first,
        }
        | ({} if first else {"matches": "y"})
    )


def _heading(text: str, left: float) -> Plotly:
    return {
        "text": f"<b>{literal(cut(text))}</b>",
        "xref": "paper",
        "yref": "paper",
        "x": left,
        "y": 1.0,
        "xanchor": "left",
        "yanchor": "bottom",
        "showarrow": False,
    }
