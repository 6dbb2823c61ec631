"""The axes and headings of a figure's panels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from switchpoint.reporting.figures.figure import INK, axis, literal, size_ticks
from switchpoint.reporting.figures.metrics import Metric
from switchpoint.tables.units import size_text

_PANEL_HEIGHT = 460


def panel_layout(
    panels: list[tuple[str, pd.DataFrame]], curves: pd.DataFrame, metric: Metric
) -> dict[str, Any]:
    """Plotly's layout of panels side by side, each with a heading, over one range of values."""
    count = len(panels)
    gap = 0.03
    width = (1 - gap * (count - 1)) / count
    layout: dict[str, Any] = {
        "height": _PANEL_HEIGHT,
        "margin": {"l": 70, "r": 15, "t": 56, "b": 110},
        "paper_bgcolor": "#ffffff",
        "plot_bgcolor": "#ffffff",
        "font": {"family": "system-ui, 'Liberation Sans', sans-serif", "size": 13, "color": INK},
        "legend": {"orientation": "h", "y": -0.24, "x": 0, "itemwidth": 50},
        "hovermode": "closest",
        "annotations": [],
    }
    ticks = size_ticks(
        curves["size_bytes"].min(), curves["size_bytes"].max(), 16 // count if count > 1 else 14
    )
    ends = pd.concat([metric.of(curves, "low_us"), metric.of(curves, "high_us")])
    for index, (heading, _) in enumerate(panels):
        suffix = str(index + 1) if index else ""
        left = index * (width + gap)
        layout[f"xaxis{suffix}"] = _size_axis(ticks, [left, left + width], f"y{suffix}")
        layout[f"yaxis{suffix}"] = _value_axis(metric, ends, f"x{suffix}", first=index == 0)
        layout["annotations"].append(_heading(heading, left))
    return layout


def _size_axis(ticks: list[int], domain: list[float], anchor: str) -> dict[str, Any]:
    return axis() | {
        "title": {"text": "Message size / B"},
        "type": "log",
        "domain": domain,
        "anchor": anchor,
        "tickvals": ticks,
        "ticktext": [size_text(tick) for tick in ticks],
        "tickangle": -45,
    }


def _value_axis(
    metric: Metric, ends: pd.Series[float], anchor: str, *, first: bool
) -> dict[str, Any]:
    """Axis of time or bandwidth; only the first panel's has words, all have its range."""
    return (
        axis()
        | {
            "title": {"text": metric.title if first else ""},
            "type": "log",
            "anchor": anchor,
            "range": [float(np.log10(ends.min())) - 0.08, float(np.log10(ends.max())) + 0.12],
            "dtick": 1,
            "minor": {"dtick": "D1", "showgrid": True, "gridcolor": "#f0f0f0"},
            "exponentformat": "none",
            "separatethousands": True,
            "showticklabels": first,
        }
        | ({} if first else {"matches": "y"})
    )


def _heading(text: str, left: float) -> dict[str, Any]:
    return {
        "text": f"<b>{literal(text)}</b>",
        "xref": "paper",
        "yref": "paper",
        "x": left,
        "y": 1.0,
        "xanchor": "left",
        "yanchor": "bottom",
        "showarrow": False,
    }
