"""Draws what each rank did at which time, as measured, or predicted above measured."""

from __future__ import annotations

import pandas as pd

from switchpoint.reporting.figures.figure import (
    COLOURS,
    INK,
    Figure,
    Plotly,
    axis,
    literal,
    no_template,
    plain_layout,
)
from switchpoint.tables.units import significant, size_text

#: What a rank can do, in the figure's order. Others get the remaining colours.
_ACTIVITIES = {
    "compute": "#0072B2", "send": "#D55E00", "receive": "#009E73", "exchange": "#CC79A7",
    "wait": "#e0e0e0",
}  # fmt: skip


def draw_activity(name: str, title: str, activity: pd.DataFrame, hosts: dict[int, str]) -> Figure:
    """Draw what each rank did at which time: a bar per rank, one point at a time.

    Parameters
    ----------
    name, title
        Of the figure.
    activity
        As from `activity_table`, not empty.
    hosts
        Host name of each rank.
    """
    rows = _rows(activity, hosts)
    data: list[Plotly] = []
    shown: list[str] = []
    for _, point in activity.groupby(["mode", "size_bytes"], sort=False):
        point_name = f"{point['mode'].iloc[0]}, {size_text(point['size_bytes'].iloc[0])}"
        visible = {"visible": not shown}
        data += [trace | visible for trace in _activity_traces(point, rows)]
        shown += [point_name] * (len(data) - len(shown))
    return Figure(name, title, data, _activity_layout(rows, shown))


def draw_timelines(
    name: str, title: str, predicted: pd.DataFrame, measured: pd.DataFrame, hosts: dict[int, str]
) -> Figure:
    """Draw what each rank does as predicted, and below it as measured, on the same time axis.

    Parameters
    ----------
    name, title
        Of the figure.
    predicted, measured
        `rank`, `phase`, `start_us`, `end_us` of one point; not empty.
    hosts
        Host name of each rank.
    """
    rows = _rows(pd.concat([predicted, measured]), hosts)
    data: list[Plotly] = []
    named: set[str] = set()
    for activity, panel in ((predicted, "y"), (measured, "y2")):
        for trace in _activity_traces(activity, rows):
            in_legend = {"showlegend": trace["name"] not in named, "legendgroup": trace["name"]}
            data.append(trace | in_legend | {"yaxis": panel})
            named.add(trace["name"])
    ends = (table["end_us"].max() / 1000 for table in (predicted, measured))
    layout = _layout(2 * (70 + 26 * len(rows)) + 150) | {
        "xaxis": axis() | {
            "title": {"text": "Time / ms"}, "anchor": "y2", "range": [0, 1.02 * max(ends)],
        },
        "yaxis": _rank_axis(rows, [0.54, 1]),
        "yaxis2": _rank_axis(rows, [0, 0.46]),
        "annotations": [
            {"text": f"<b>{words}</b>", "xref": "paper", "yref": "paper", "x": 0, "y": top,
             "xanchor": "left", "yanchor": "bottom", "showarrow": False}
            for words, top in (("Predicted", 1), ("Measured", 0.46))
        ],
    }  # fmt: skip
    layout["margin"] |= {"b": 110}  # the legend has two lines on a narrow screen
    layout["legend"] |= {"y": 0, "yref": "container", "yanchor": "bottom"}
    return Figure(name, title, data, layout)


def _rows(activity: pd.DataFrame, hosts: dict[int, str]) -> dict[int, str]:
    """Return the name of each rank's row."""
    ranks = sorted(activity["rank"].unique())
    return {rank: f"{rank} on {literal(hosts[rank])}" for rank in ranks}


def _activity_traces(point: pd.DataFrame, rows: dict[int, str]) -> list[Plotly]:
    colours = dict(_ACTIVITIES)
    spare = iter(COLOURS)
    traces = []
    for phase in dict.fromkeys([*_ACTIVITIES, *point["phase"]]):
        spans = point[point["phase"] == phase]
        if spans.empty:
            continue
        colour = colours.get(phase) or next(spare, INK)
        length = spans["end_us"] - spans["start_us"]
        traces.append(
            {
                "type": "bar",
                "orientation": "h",
                "name": literal(phase),
                "y": spans["rank"].map(rows).tolist(),
                "x": (length / 1000).tolist(),
                "base": (spans["start_us"] / 1000).tolist(),
                "marker": {"color": colour, "line": {"width": 0}},
                "customdata": [[significant(value / 1000)] for value in length],
                "hovertemplate": f"{no_template(literal(phase))} %{{customdata[0]}} ms"
                "<extra>rank %{y}</extra>",
            }
        )
    return traces


def _activity_layout(rows: dict[int, str], shown: list[str]) -> Plotly:
    """Return axes and a menu of the points. `shown` names the point of each trace."""
    points = list(dict.fromkeys(shown))
    return _layout(170 + 30 * len(rows)) | {
        "xaxis": axis() | {"title": {"text": "Time since the repetition began / ms"}},
        "yaxis": _rank_axis(rows, [0, 1]) | {"title": {"text": "Rank"}},
        "updatemenus": [
            {
                "type": "dropdown", "x": 0, "xanchor": "left", "y": 1.02, "yanchor": "bottom",
                "buttons": [
                    {
                        "label": literal(point),
                        "method": "update",
                        "args": [{"visible": [of == point for of in shown]}],
                    }
                    for point in points
                ],
            }
        ],
    }  # fmt: skip


def _layout(height: int) -> Plotly:
    return plain_layout() | {
        "height": height,
        "margin": {"l": 110, "r": 15, "t": 50, "b": 90},
        "barmode": "overlay",
        "bargap": 0.25,
        "legend": {"orientation": "h", "y": -0.25, "x": 0, "traceorder": "normal"},
    }


def _rank_axis(rows: dict[int, str], domain: list[float]) -> Plotly:
    """Return an axis with a row for each rank, the first on top."""
    return axis() | {
        "type": "category",
        "domain": domain,
        "categoryorder": "array",
        "categoryarray": list(rows.values())[::-1],
        "showgrid": False,
    }
