"""Draws what each rank did at which time."""

from __future__ import annotations

from typing import Any

import pandas as pd

from switchpoint.reporting.figures.figure import (
    COLOURS,
    INK,
    MODEBAR,
    NO_COLOUR,
    Figure,
    axis,
    literal,
    no_template,
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
    ranks = sorted(activity["rank"].unique())
    rows = {rank: f"{rank} on {literal(hosts[rank])}" for rank in ranks}
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
                "visible": visible,
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


def _activity_layout(rows: dict[int, str], shown: list[str]) -> dict[str, Any]:
    """Return axes and a menu of the points. `shown` names the point of each trace."""
    points = list(dict.fromkeys(shown))
    return {
        "height": 170 + 30 * len(rows),
        "margin": {"l": 110, "r": 15, "t": 50, "b": 90},
        "paper_bgcolor": NO_COLOUR,
        "plot_bgcolor": NO_COLOUR,
        "font": {"family": "system-ui, 'Liberation Sans', sans-serif", "size": 13, "color": INK},
        "barmode": "overlay",
        "bargap": 0.25,
        "hovermode": "closest",
        "modebar": MODEBAR,
        "legend": {"orientation": "h", "y": -0.25, "x": 0, "traceorder": "normal"},
        "xaxis": axis() | {"title": {"text": "Time since the repetition began / ms"}},
        "yaxis": axis() | {
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
                        "label": literal(point),
                        "method": "update",
                        "args": [{"visible": [of == point for of in shown]}],
                    }
                    for point in points
                ],
            }
        ],
    }  # fmt: skip
