"""Draws how samples scatter around the median of their size: empirical distributions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from switchpoint.reporting.figures.figure import (
    Figure,
    Plotly,
    axis,
    literal,
    no_template,
    plain_layout,
)
from switchpoint.reporting.figures.styles import Styles
from switchpoint.tables.columns import identity_columns

#: A distribution is drawn at so many shares, which is finer than the eye.
_SHARES = np.concatenate([np.linspace(0, 0.98, 50), [0.985, 0.99, 0.995, 1.0]])

#: Labels of the times, of which the first and the last are the ends of the axis.
_TICKS = [0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.5, 2, 3, 5]

#: In pixels: the plot with its axis, and a line of the legend.
_HEIGHT, _ENTRY_HEIGHT = 380, 19


def draw_scatter(
    name: str,
    title: str,
    samples: pd.DataFrame,
    curves: pd.DataFrame,
    told: list[str],
    runs: Mapping[str, str] | None = None,
) -> tuple[Figure, pd.DataFrame] | None:
    """Draw which share of the samples took at most so much longer than the median of their size.

    Parameters
    ----------
    name, title
        Of the figure.
    samples
        Of these curves and perhaps others.
    curves
        As from `summarise`, the most telling first; at most a dozen are drawn.
    told
        Columns that the page's title names.
    runs
        Names of runs by their IDs, for those that nothing else distinguishes.

    Returns
    -------
    tuple of Figure and DataFrame, or None
        The figure and its values; None if there are no samples, or one of each size only.
    """
    styles = Styles(curves, told, runs)
    identity = identity_columns(curves)
    data: list[Plotly] = []
    values = []
    for series, points in styles.series(curves):
        if series not in styles.visible:
            continue
        own = _samples_of(samples, points, identity)
        if own["size_bytes"].nunique() == len(own):
            continue
        typical = own.groupby("size_bytes")["time_us"].transform("median")
        relative = (own["time_us"] / typical).quantile(_SHARES).to_numpy()
        colour, dash, _ = styles.look(series)
        data.append(_line(series, relative, colour, dash))
        values.append(
            pd.DataFrame({"curve": series, "share": _SHARES, "time_over_median": relative})
        )
    if not data:
        return None
    return Figure(name, title, data, _layout(len(data))), pd.concat(values, ignore_index=True)


def _samples_of(samples: pd.DataFrame, points: pd.DataFrame, identity: list[str]) -> pd.DataFrame:
    """Return the samples of one curve."""
    own = samples
    for column in ("run_id", *identity):
        if column in own and isinstance(value := points[column].iloc[0], str):
            own = own[own[column] == value]
    return own[["size_bytes", "time_us"]]


def _line(series: str, relative: Any, colour: str, dash: str) -> Plotly:
    return {
        "type": "scatter", "mode": "lines", "name": literal(series),
        "x": [float(f"{value:.5g}") for value in relative],
        "y": [round(100 * share, 1) for share in _SHARES.tolist()],
        "line": {"color": colour, "dash": dash, "width": 1.8},
        "showlegend": True,
        "hovertemplate": "%{y} % took at most %{x:.3f} times the median"
        f"<extra>{no_template(literal(series))}</extra>",
    }  # fmt: skip


def _layout(lines: int) -> Plotly:
    legend = _ENTRY_HEIGHT * lines + 10
    return plain_layout() | {
        "height": _HEIGHT + legend,
        "margin": {"l": 70, "r": 15, "t": 30, "b": 70 + legend},
        "legend": {"yref": "container", "y": 0, "yanchor": "bottom", "x": 0, "itemwidth": 50},
        "xaxis": axis()
        | {
            "type": "log",
            "title": {"text": "Time over the median of its size"},
            "range": [math.log10(_TICKS[0]), math.log10(_TICKS[-1])],
            "tickvals": _TICKS,
        },
        "yaxis": axis() | {"title": {"text": "Share of samples / %"}, "range": [0, 101]},
    }
