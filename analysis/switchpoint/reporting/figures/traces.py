"""The lines and marks of one series: its curve with an interval, and its findings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from switchpoint.reporting.figures.figure import INK, literal, no_template
from switchpoint.reporting.figures.metrics import Metric
from switchpoint.reporting.figures.styles import Styles
from switchpoint.tables.columns import NOTES, identity_columns
from switchpoint.tables.findings import BOUNDARIES, KINDS
from switchpoint.tables.units import percent, place_text, significant, size_text


def curve_traces(
    series: str,
    points: pd.DataFrame,
    metric: Metric,
    axes: dict[str, str],
    styles: Styles,
    first_panel: bool,
) -> list[dict[str, Any]]:
    """Line of one series, with its interval as a ribbon."""
    colour, dash, symbol = styles.look(series)
    name = literal(series)
    x = points["size_bytes"].tolist()
    bounds = metric.of(points, "low_us"), metric.of(points, "high_us")
    shared = axes | {"legendgroup": name, "type": "scatter"}
    ribbon = shared | {
        "x": x + x[::-1],
        "y": bounds[0].tolist() + bounds[1].tolist()[::-1],
        "mode": "lines",
        "fill": "toself",
        "fillcolor": _with_alpha(colour, 0.18),
        "line": {"width": 0},
        "hoverinfo": "skip",
        "showlegend": False,
    }
    line = shared | {
        "name": name,
        "x": x,
        "y": metric.of(points).tolist(),
        "mode": "lines+markers",
        "line": {"color": colour, "dash": dash, "width": 1.8},
        "marker": {"symbol": symbol, "size": 5, "color": colour},
        "customdata": [
            [size_text(size), significant(min(ends)), significant(max(ends)), count]
            for size, count, *ends in zip(x, points["count"].tolist(), *bounds, strict=True)
        ],
        "hovertemplate": f"%{{customdata[0]}}: %{{y:.4g}} {metric.unit}"
        "<br>95 % interval %{customdata[1]} to %{customdata[2]}, %{customdata[3]} samples"
        f"<extra>{no_template(name)}</extra>",
        "showlegend": first_panel,
    }
    return [ribbon, line]


def finding_traces(
    series: str,
    points: pd.DataFrame,
    findings: pd.DataFrame,
    metric: Metric,
    axes: dict[str, str],
    styles: Styles,
) -> list[dict[str, Any]]:
    """Marks of the findings on one series' curve."""
    identity = identity_columns(findings)
    here = findings[findings["kind"].isin([*BOUNDARIES, "outlier"])]
    mine = here.merge(points[[*identity, "size_bytes", "time_us"]], on=[*identity, "size_bytes"])
    if mine.empty:
        return []
    name = literal(series)
    symbols = np.where(
        mine["kind"] == "step",
        np.where(mine["magnitude"] > 0, "triangle-up", "triangle-down"),
        np.where(mine["kind"] == "outlier", "circle", "cross-thin"),
    )
    return [
        axes | {
            "type": "scatter",
            "mode": "markers",
            "name": name,
            "legendgroup": name,
            "showlegend": False,
            "x": mine["size_bytes"].tolist(),
            "y": metric.of(mine).tolist(),
            "marker": {
                "symbol": symbols.tolist(), "size": 12, "color": "rgba(255,255,255,0.6)",
                "line": {"color": INK, "width": 1.6},
            },
            "customdata": [
                [
                    KINDS[row["kind"]].words,
                    place_text(row["kind"], row["last_size_before"], row["size_bytes"], None),
                    percent(row["magnitude"]),
                    "".join(f"<br>{literal(note)}" for note in row[NOTES]),
                ]
                for row in mine.to_dict("records")
            ],
            "hovertemplate": "%{customdata[0]} at %{customdata[1]}:"
            " time %{customdata[2]}%{customdata[3]}"
            f"<extra>{no_template(name)}</extra>",
        }
    ]  # fmt: skip


def _with_alpha(colour: str, alpha: float) -> str:
    red, green, blue = (int(colour[start : start + 2], 16) for start in (1, 3, 5))
    return f"rgba({red},{green},{blue},{alpha})"
