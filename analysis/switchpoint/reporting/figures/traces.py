"""The lines and marks of one series: its curve with an interval, and its findings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pandas as pd

from switchpoint.reporting.figures.figure import INK, Plotly, literal, no_template
from switchpoint.reporting.figures.metrics import Metric
from switchpoint.tables.columns import NotedFinding, identity_columns, records, values_of
from switchpoint.tables.findings import BOUNDARIES, KINDS, Finding
from switchpoint.tables.units import percent, place_text, significant, size_text

#: Kinds of findings that are marked on curves.
_MARKED = (*BOUNDARIES, "outlier")


def curve_traces(
    series: str,
    points: pd.DataFrame,
    metric: Metric,
    axes: dict[str, str],
    look: tuple[str, str, str],
    *,
    in_legend: bool,
) -> list[Plotly]:
    """Return the line of one series, with its interval as a band."""
    colour, dash, symbol = look
    name = literal(series)
    x = points["size_bytes"].tolist()
    bounds = rounded(metric.of(points, "low_us")), rounded(metric.of(points, "high_us"))
    shared = axes | {"legendgroup": name, "type": "scatter"}
    ribbon = shared | {
        "x": x + x[::-1],
        "y": bounds[0] + bounds[1][::-1],
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
        "y": rounded(metric.of(points)),
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
        "showlegend": in_legend,
    }
    if (points["count"] == 1).all():  # nothing says how uncertain a single value is
        del line["customdata"]
        line["hovertemplate"] = (
            f"%{{x:,}} B: %{{y:.4g}} {metric.unit}, measured once<extra>{no_template(name)}</extra>"
        )
        return [line]
    return [ribbon, line]


class Mark(NotedFinding):
    """A finding with its curve's time there."""

    time_us: float


class Marks:
    """The findings of a figure that have a place on a curve, sorted by curve."""

    def __init__(self, findings: pd.DataFrame | None) -> None:
        self._of_curve: dict[tuple[Any, ...], list[NotedFinding]] = {}
        self._identity: list[str] = []
        if findings is None or findings.empty:
            return
        self._identity = identity_columns(findings)
        for row in records(findings, NotedFinding):
            if row["kind"] in _MARKED:
                key = values_of(row, self._identity)
                self._of_curve.setdefault(key, []).append(row)

    def on(self, points: pd.DataFrame) -> list[Mark]:
        """Return the findings on a curve, each with the curve's time there."""
        if not self._of_curve:
            return []
        curve = {name: points[name].iloc[0] for name in self._identity}
        rows = self._of_curve.get(values_of(curve, self._identity))
        if rows is None:
            return []
        times = dict(zip(points["size_bytes"].tolist(), points["time_us"].tolist(), strict=True))
        return [
            {**row, "time_us": times[size]} for row in rows if (size := row["size_bytes"]) in times
        ]


def finding_traces(
    series: str,
    mine: list[Mark],
    metric: Metric,
    axes: dict[str, str],
) -> list[Plotly]:
    """Return marks of findings on the curve of one series."""
    if not mine:
        return []
    name = literal(series)
    return [
        axes
        | {
            "type": "scatter",
            "mode": "markers",
            "name": name,
            "legendgroup": name,
            "showlegend": False,
            "x": [row["size_bytes"] for row in mine],
            "y": rounded(metric.at(row["size_bytes"], row["time_us"]) for row in mine),
            "marker": {
                "symbol": [_symbol(row) for row in mine],
                "size": 12,
                "color": "rgba(255,255,255,0.6)",
                "line": {"color": INK, "width": 1.6},
            },
            "customdata": [
                [
                    KINDS[row["kind"]].words,
                    place_text(row["kind"], row["last_size_before"], row["size_bytes"], None),
                    percent(row["magnitude"]),
                    "".join(f"<br>{literal(note)}" for note in row["notes"]),
                ]
                for row in mine
            ],
            "hovertemplate": "%{customdata[0]} at %{customdata[1]}:"
            " time %{customdata[2]}%{customdata[3]}"
            f"<extra>{no_template(name)}</extra>",
        }
    ]


def by_choice(traces: list[Plotly], metric: Metric) -> list[Plotly]:
    """Return the traces of a series that is only visible if the reader chooses it.

    They have no band and no interval, so that many of them need little space.
    """
    kept = [trace for trace in traces if trace.get("fill") is None]
    for trace in kept:
        trace["visible"] = "legendonly"
        if trace["mode"] == "lines+markers":
            trace.pop("customdata", None)
            extra = trace["hovertemplate"].partition("<extra>")[2]
            trace["hovertemplate"] = f"%{{x:,}} B: %{{y:.4g}} {metric.unit}<extra>{extra}"
    return kept


def rounded(values: Iterable[float]) -> list[float]:
    """Return values with six significant digits, which is more than any figure shows."""
    return [float(f"{value:.6g}") for value in values]


def _symbol(row: Finding) -> str:
    if row["kind"] == "step":
        return "triangle-up" if row["magnitude"] > 0 else "triangle-down"
    return "circle" if row["kind"] == "outlier" else "cross-thin"


def _with_alpha(colour: str, alpha: float) -> str:
    red, green, blue = (int(colour[start : start + 2], 16) for start in (1, 3, 5))
    return f"rgba({red},{green},{blue},{alpha})"
