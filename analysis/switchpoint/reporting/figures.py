"""Draws curves and findings with Plotly: a figure per kernel and mode, a panel per MPI.

Ours beside the baselines' have a figure for each MPI, a panel for each placement.
"""

from __future__ import annotations

import html
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from switchpoint.comparison.baselines import Pairing
from switchpoint.tables.columns import BOUNDARIES, CURVE_COLUMNS, MEASURES, NOTES, identity_columns
from switchpoint.tables.curves import summarise
from switchpoint.tables.naming import short, telling_columns
from switchpoint.tables.units import percent, place_text, significant, size_text

#: Okabe and Ito's palette, told apart with any colour vision; black is kept for findings.
_COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"]
_DASHES = ["solid", "dash", "dot", "dashdot", "longdash", "longdashdot"]
_SYMBOLS = ["circle", "square", "diamond", "triangle-up", "x", "star"]
_INK = "#1a1a1a"
_GRID = "#d9d9d9"

#: Kernels that send a message to and fro.
PING_PONGS = ["pingpong", "multipair", "echo"]

#: Their modes that time a window of messages, not a round trip.
STREAMING = ["stream", "sstream", "bistream"]

_PANEL_HEIGHT = 460


@dataclass
class Figure:
    """One figure of the page: its element's name, a title, and Plotly's data and layout."""

    name: str
    title: str
    data: list[dict[str, Any]]
    layout: dict[str, Any]


@dataclass
class _Metric:
    """What a figure shows of a curve."""

    word: str
    title: str
    unit: str
    inverse: bool  # size over time instead of time

    def of(self, points: pd.DataFrame, time_column: str = "time_us") -> pd.Series[float]:
        """Values of the metric for a column of times."""
        return points["size_bytes"] / points[time_column] if self.inverse else points[time_column]


_TIME = _Metric("time", "Time / µs", "µs", inverse=False)
_ROUND_TRIP = replace(_TIME, title="Half round trip / µs")
_STREAM_TIME = replace(_TIME, title="Time per message in a stream / µs")
_BANDWIDTH = _Metric("bandwidth", "Bandwidth / (10⁶ B/s)", "MB/s", inverse=True)


def draw(curves: pd.DataFrame, findings: pd.DataFrame) -> list[Figure]:
    """Draw every curve, in time and in bandwidth.

    Parameters
    ----------
    curves
        As from `summarise`.
    findings
        As from `detect`, of the same curves, with notes as from `explanation.note`.
    """
    curves = curves[curves["size_bytes"] > 0]  # a logarithmic axis has no place for 0
    if curves.empty:
        return []
    by = _present(curves, "site", "kernel", "mode")
    parts = curves.groupby(by, dropna=False, observed=True) if by else [((), curves)]
    figures: list[Figure] = []
    for values, part in parts:
        title = ", ".join(str(value) for value in values if isinstance(value, str)) or "Curves"
        for metric in (_time_of(part), _BANDWIDTH):
            named = f"{title}: {metric.word} against message size"
            name = f"figure-{len(figures)}"
            figures.append(_figure(name, named, part, findings, metric, "mpi", by))
    return figures


def _time_of(curves: pd.DataFrame) -> _Metric:
    """Say what the time of these curves is: they are of one kernel and mode, as far as known."""
    ping_pong = "kernel" in curves and curves["kernel"].isin(PING_PONGS).all()
    if not ping_pong or "mode" not in curves:
        return _TIME
    return _STREAM_TIME if curves["mode"].isin(STREAMING).all() else _ROUND_TRIP


def draw_pairing(name: str, pairing: Pairing) -> Figure:
    """Draw our curve and the baselines', each of all its launches, a panel for each placement."""
    told = [*pairing.place, "placement"]
    samples = pairing.samples[[*told, "kernel", *MEASURES]]
    curves = summarise(samples[samples["size_bytes"] > 0])
    metric = _BANDWIDTH if pairing.mode in STREAMING else _TIME
    title = f"{', '.join(pairing.place.values())}: {pairing.mode} and its baselines"
    return _figure(name, title, curves, None, metric, "placement", told)


def draw_again(name: str, title: str, curves: pd.DataFrame, names: dict[str, str]) -> Figure:
    """Draw a run and the one that runs it again, a panel for each mode.

    Parameters
    ----------
    name, title
        Of the figure.
    curves
        As from `summarise`.
    names
        What the legend calls each of the runs.
    """
    own = curves[curves["run_id"].isin(names) & (curves["size_bytes"] > 0)]
    kept = [*_present(own, "mode"), *(column for column in CURVE_COLUMNS if column in own)]
    named = own[kept].assign(run=own["run_id"].astype(object).map(names))
    return _figure(name, title, named, None, _TIME, "mode", [])


#: What a rank can be doing, in the figure's order; others take the colours that are left.
_ACTIVITIES = {
    "compute": "#0072B2", "send": "#D55E00", "receive": "#009E73", "exchange": "#CC79A7",
    "wait": "#e0e0e0",
}  # fmt: skip


def draw_activity(name: str, title: str, activity: pd.DataFrame, hosts: list[str]) -> Figure:
    """Draw what each rank did when: a bar for each rank, one point at a time.

    Parameters
    ----------
    name, title
        Of the figure.
    activity
        As from `activity_table`, not empty.
    hosts
        Host name of each rank.
    """
    ranks = sorted(activity["rank"].unique())
    rows = {rank: f"{rank} on {_literal(hosts[rank])}" for rank in ranks}
    data: list[dict[str, Any]] = []
    shown: list[str] = []
    for _, point in activity.groupby(["mode", "size_bytes"], sort=False):
        point_name = f"{point['mode'].iloc[0]}, {size_text(point['size_bytes'].iloc[0])}"
        data += _activity_traces(point, rows, visible=not shown)
        shown += [point_name] * (len(data) - len(shown))
    return Figure(name, title, data, _activity_layout(rows, shown))


def _activity_traces(
    point: pd.DataFrame, rows: dict[int, str], visible: bool
) -> list[dict[str, Any]]:
    colours = dict(_ACTIVITIES)
    spare = iter(_COLOURS)
    traces = []
    for phase in dict.fromkeys([*_ACTIVITIES, *point["phase"]]):
        spans = point[point["phase"] == phase]
        if spans.empty:
            continue
        colour = colours.get(phase) or next(spare, _INK)
        length = spans["end_us"] - spans["start_us"]
        traces.append(
            {
                "type": "bar",
                "orientation": "h",
                "name": _literal(phase),
                "visible": visible,
                "y": spans["rank"].map(rows).tolist(),
                "x": (length / 1000).tolist(),
                "base": (spans["start_us"] / 1000).tolist(),
                "marker": {"color": colour, "line": {"width": 0}},
                "customdata": [[significant(value / 1000)] for value in length],
                "hovertemplate": f"{_no_template(_literal(phase))} %{{customdata[0]}} ms"
                "<extra>rank %{y}</extra>",
            }
        )
    return traces


def _activity_layout(rows: dict[int, str], shown: list[str]) -> dict[str, Any]:
    """Axes, and a menu of the points; `shown` names the point of each trace."""
    points = list(dict.fromkeys(shown))
    return {
        "height": 170 + 30 * len(rows),
        "margin": {"l": 110, "r": 15, "t": 50, "b": 90},
        "paper_bgcolor": "#ffffff",
        "plot_bgcolor": "#ffffff",
        "font": {"family": "system-ui, 'Liberation Sans', sans-serif", "size": 13, "color": _INK},
        "barmode": "overlay",
        "bargap": 0.25,
        "hovermode": "closest",
        "legend": {"orientation": "h", "y": -0.25, "x": 0, "traceorder": "normal"},
        "xaxis": _axis() | {"title": {"text": "Time since the repetition began / ms"}},
        "yaxis": _axis() | {
            "type": "category",
            "categoryorder": "array",
            "categoryarray": list(rows.values())[::-1],
            "title": {"text": "Rank"},
            "showgrid": False,
        },
        "updatemenus": [
            {
                "type": "dropdown", "x": 0, "xanchor": "left", "y": 1.02, "yanchor": "bottom",
                "buttons": [
                    {
                        "label": _literal(point),
                        "method": "update",
                        "args": [{"visible": [of == point for of in shown]}],
                    }
                    for point in points
                ],
            }
        ],
    }  # fmt: skip


def _figure(
    name: str,
    title: str,
    curves: pd.DataFrame,
    findings: pd.DataFrame | None,
    metric: _Metric,
    panel_column: str,
    told: list[str],
) -> Figure:
    panels = _panels(curves, panel_column)
    styles = _Styles(curves, [*told, *_present(curves, panel_column)])
    data: list[dict[str, Any]] = []
    for index, (_, panel) in enumerate(panels, start=1):
        axes = {
            "xaxis": f"x{index if index > 1 else ''}",
            "yaxis": f"y{index if index > 1 else ''}",
        }
        for series, points in styles.series(panel):
            data += _curve_traces(series, points, metric, axes, styles, first_panel=index == 1)
            if findings is not None:
                data += _finding_traces(series, points, findings, metric, axes, styles)
    shown = {trace["legendgroup"] for trace in data if trace.get("showlegend")}
    for trace in data:  # a curve that the first panel lacks still needs its place in the legend
        if trace["mode"] == "lines+markers" and trace["legendgroup"] not in shown:
            trace["showlegend"] = True
            shown.add(trace["legendgroup"])
    return Figure(
        name=name,
        title=title,
        data=data,
        layout=_layout(panels, curves, metric),
    )


def _panels(curves: pd.DataFrame, column: str) -> list[tuple[str, pd.DataFrame]]:
    if column not in curves:
        return [("", curves)]
    return [
        (value if isinstance(value, str) else "", panel)
        for value, panel in curves.groupby(column, dropna=False, observed=True)
    ]


class _Styles:
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
        turn = index // len(_COLOURS)
        return (
            _COLOURS[index % len(_COLOURS)],
            _DASHES[(index + turn) % len(_DASHES)],
            _SYMBOLS[(index + 2 * turn) % len(_SYMBOLS)],
        )


def _curve_traces(
    series: str,
    points: pd.DataFrame,
    metric: _Metric,
    axes: dict[str, str],
    styles: _Styles,
    first_panel: bool,
) -> list[dict[str, Any]]:
    colour, dash, symbol = styles.look(series)
    name = _literal(series)
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
        f"<extra>{_no_template(name)}</extra>",
        "showlegend": first_panel,
    }
    return [ribbon, line]


def _finding_traces(
    series: str,
    points: pd.DataFrame,
    findings: pd.DataFrame,
    metric: _Metric,
    axes: dict[str, str],
    styles: _Styles,
) -> list[dict[str, Any]]:
    """Marks of the findings on one series' curve."""
    identity = identity_columns(findings)
    here = findings[findings["kind"].isin([*BOUNDARIES, "outlier"])]
    mine = here.merge(points[[*identity, "size_bytes", "time_us"]], on=[*identity, "size_bytes"])
    if mine.empty:
        return []
    name = _literal(series)
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
                "line": {"color": _INK, "width": 1.6},
            },
            "customdata": [
                [
                    row["kind"].replace("_", " "),
                    place_text(row["kind"], row["last_size_before"], row["size_bytes"], None),
                    percent(row["magnitude"]),
                    "".join(f"<br>{_literal(note)}" for note in row[NOTES]),
                ]
                for row in mine.to_dict("records")
            ],
            "hovertemplate": "%{customdata[0]} at %{customdata[1]}:"
            " time %{customdata[2]}%{customdata[3]}"
            f"<extra>{_no_template(name)}</extra>",
        }
    ]  # fmt: skip


def _layout(
    panels: list[tuple[str, pd.DataFrame]], curves: pd.DataFrame, metric: _Metric
) -> dict[str, Any]:
    count = len(panels)
    gap = 0.03
    width = (1 - gap * (count - 1)) / count
    layout: dict[str, Any] = {
        "height": _PANEL_HEIGHT,
        "margin": {"l": 70, "r": 15, "t": 56, "b": 110},
        "paper_bgcolor": "#ffffff",
        "plot_bgcolor": "#ffffff",
        "font": {"family": "system-ui, 'Liberation Sans', sans-serif", "size": 13, "color": _INK},
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
        layout[f"xaxis{suffix}"] = _axis() | {
            "title": {"text": "Message size / B"},
            "type": "log",
            "domain": [left, left + width],
            "anchor": f"y{suffix}",
            "tickvals": ticks,
            "ticktext": [size_text(tick) for tick in ticks],
            "tickangle": -45,
        }
        layout[f"yaxis{suffix}"] = (
            _axis()
            | {
                "title": {"text": metric.title if index == 0 else ""},
                "type": "log",
                "anchor": f"x{suffix}",
                "range": [float(np.log10(ends.min())) - 0.08, float(np.log10(ends.max())) + 0.12],
                "dtick": 1,
                "minor": {"dtick": "D1", "showgrid": True, "gridcolor": "#f0f0f0"},
                "exponentformat": "none",
                "separatethousands": True,
                "showticklabels": index == 0,
            }
            | ({"matches": "y"} if index else {})
        )
        layout["annotations"].append(
            {
                "text": f"<b>{_literal(heading)}</b>",
                "xref": "paper",
                "yref": "paper",
                "x": left,
                "y": 1.0,
                "xanchor": "left",
                "yanchor": "bottom",
                "showarrow": False,
            }
        )
    return layout


def size_ticks(smallest: float, largest: float, most: int) -> list[int]:
    """Powers of two to label an axis with, evenly spaced and no more than `most`."""
    first, last = int(np.floor(np.log2(smallest))), int(np.ceil(np.log2(largest)))
    step = max(1, int(np.ceil((last - first + 1) / most)))
    return [2**power for power in range(first - first % step, last + 1, step) if power >= 0]


def _axis() -> dict[str, Any]:
    return {
        "gridcolor": _GRID,
        "linecolor": _INK,
        "showline": True,
        "ticks": "outside",
        "mirror": True,
        "zeroline": False,
    }


def _present(curves: pd.DataFrame, *names: str) -> list[str]:
    return [name for name in names if name in curves]


def _with_alpha(colour: str, alpha: float) -> str:
    red, green, blue = (int(colour[start : start + 2], 16) for start in (1, 3, 5))
    return f"rgba({red},{green},{blue},{alpha})"


def _literal(text: str) -> str:
    """Escape a name for Plotly, which reads a few tags and entities but no quotes."""
    return html.escape(text, quote=False)


def _no_template(text: str) -> str:
    """Keep a name's own braces from being read as one of Plotly's templates."""
    return text.replace("%{", "%&#123;")
