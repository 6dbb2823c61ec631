"""Draws how a value changed over the sessions, with when it changed and what was accepted."""

from __future__ import annotations

import pandas as pd

from switchpoint.reporting.figures.figure import COLOURS, INK, Figure, Plotly, axis, plain_layout


def draw_trend(
    name: str, title: str, trend: pd.DataFrame, since_utc: str | None, accepted_utc: str | None
) -> Figure:
    """Draw the relative time of each session, and mark the change and its acceptance.

    Parameters
    ----------
    name, title
        Of the figure.
    trend
        `session_utc` and `relative_time`, one row per session.
    since_utc, accepted_utc
        When the change began and when it was accepted, if that is known.
    """
    marks = [(since_utc, "change", "dash"), (accepted_utc, "accepted", "dot")]
    known = [(when, word, dash) for when, word, dash in marks if when]
    line = {
        "type": "scatter", "mode": "lines+markers", "name": "relative time",
        "x": trend["session_utc"].tolist(),
        "y": [float(f"{value:.5g}") for value in trend["relative_time"]],
        "line": {"color": COLOURS[0]}, "marker": {"size": 7}, "showlegend": False,
        "hovertemplate": "%{x|%Y-%m-%d %H:%M}: %{y:.3f}<extra></extra>",
    }  # fmt: skip
    layout: Plotly = plain_layout() | {
        "height": 300,
        "margin": {"l": 70, "r": 15, "t": 30, "b": 50},
        "xaxis": axis() | {"type": "date"},
        "yaxis": axis() | {"title": {"text": "Time relative to all sessions"}},
        "shapes": [
            {
                "type": "line", "x0": when, "x1": when, "yref": "paper", "y0": 0, "y1": 1,
                "line": {"dash": dash, "color": INK, "width": 1.2},
            }
            for when, _, dash in known
        ],
        "annotations": [
            {"x": when, "yref": "paper", "y": 1, "yanchor": "bottom", "text": word,
             "showarrow": False}
            for when, word, _ in known
        ],
    }  # fmt: skip
    return Figure(name, title, [line], layout)
