"""Draws curves and findings with Plotly: a figure per kernel and mode, a panel per MPI.

Comparisons with baselines have a figure per MPI and a panel per placement.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from switchpoint.comparison.baselines import Pairing
from switchpoint.reporting.figures.figure import Figure
from switchpoint.reporting.figures.metrics import BANDWIDTH, STREAMING, TIME, Metric, time_of
from switchpoint.reporting.figures.panels import panel_layout
from switchpoint.reporting.figures.styles import Styles
from switchpoint.reporting.figures.traces import curve_traces, finding_traces
from switchpoint.tables.columns import CURVE_COLUMNS, MEASURES
from switchpoint.tables.curves import summarise


def draw(curves: pd.DataFrame, findings: pd.DataFrame) -> list[Figure]:
    """Draw every curve, in time and in bandwidth.

    Parameters
    ----------
    curves
        As from `summarise`.
    findings
        As from `detect`, of the same curves, with notes as from `explanation.notes`.
    """
    curves = curves[curves["size_bytes"] > 0]  # a logarithmic axis cannot show 0
    if curves.empty:
        return []
    by = _present(curves, "site", "kernel", "mode")
    parts = curves.groupby(by, dropna=False, observed=True) if by else [((), curves)]
    figures: list[Figure] = []
    for values, part in parts:
        title = ", ".join(str(value) for value in values if isinstance(value, str)) or "Curves"
        for metric in (time_of(part), BANDWIDTH):
            named = f"{title}: {metric.word} against message size"
            name = f"figure-{len(figures)}"
            figures.append(_figure(name, named, part, findings, metric, "mpi", by))
    return figures


def draw_pairing(name: str, pairing: Pairing) -> Figure:
    """Draw our curve and the baselines' curves from all launches, with a panel per placement."""
    told = [*pairing.place, "placement"]
    samples = pairing.samples[[*told, "kernel", *MEASURES]]
    curves = summarise(samples[samples["size_bytes"] > 0])
    metric = BANDWIDTH if pairing.mode in STREAMING else TIME
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
    return _figure(name, title, named, None, TIME, "mode", [])


def _figure(
    name: str,
    title: str,
    curves: pd.DataFrame,
    findings: pd.DataFrame | None,
    metric: Metric,
    panel_column: str,
    told: list[str],
) -> Figure:
    panels = _panels(curves, panel_column)
    styles = Styles(curves, [*told, *_present(curves, panel_column)])
    data: list[dict[str, Any]] = []
    for index, (_, panel) in enumerate(panels, start=1):
        axes = {
            "xaxis": f"x{index if index > 1 else ''}",
            "yaxis": f"y{index if index > 1 else ''}",
        }
        for series, points in styles.series(panel):
            data += curve_traces(series, points, metric, axes, styles, first_panel=index == 1)
            if findings is not None:
                data += finding_traces(series, points, findings, metric, axes, styles)
    shown = {trace["legendgroup"] for trace in data if trace.get("showlegend")}
    for trace in data:  # a curve that is not in the first panel also needs an entry in the legend
        if trace["mode"] == "lines+markers" and trace["legendgroup"] not in shown:
            trace["showlegend"] = True
            shown.add(trace["legendgroup"])
    return Figure(
        name=name,
        title=title,
        data=data,
        layout=panel_layout(panels, curves, metric),
    )


def _panels(curves: pd.DataFrame, column: str) -> list[tuple[str, pd.DataFrame]]:
    if column not in curves:
        return [("", curves)]
    return [
        (value if isinstance(value, str) else "", panel)
        for value, panel in curves.groupby(column, dropna=False, observed=True)
    ]


def _present(curves: pd.DataFrame, *names: str) -> list[str]:
    return [name for name in names if name in curves]
