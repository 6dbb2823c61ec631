"""Draws curves and findings with Plotly: a figure per kernel and mode, a panel per MPI.

At most a dozen curves are visible; the others are in the legend, for the reader to choose.

Comparisons with baselines have a figure per MPI and a panel per placement.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from switchpoint.comparison.baselines import Pairing
from switchpoint.reporting.figures.figure import Figure, Plotly
from switchpoint.reporting.figures.metrics import BANDWIDTH, STREAMING, TIME, Metric, time_of
from switchpoint.reporting.figures.panels import panel_layout
from switchpoint.reporting.figures.styles import Styles
from switchpoint.reporting.figures.traces import Marks, by_choice, curve_traces, finding_traces
from switchpoint.tables.columns import CURVE_COLUMNS, MEASURES
from switchpoint.tables.curves import summarise

#: More panels side by side would be too narrow; then the curves' names include the MPI.
_MOST_PANELS = 3


def draw(
    title: str,
    curves: pd.DataFrame,
    findings: pd.DataFrame | None,
    told: list[str],
    runs: Mapping[str, str] | None = None,
) -> tuple[list[Figure], pd.DataFrame]:
    """Draw curves of one kernel and mode, in time and in bandwidth; also return the drawn points.

    Parameters
    ----------
    title
        Of the figures; the metric is added.
    curves
        As from `summarise`, the most telling first: a dozen is visible, the others by choice.
    findings
        As from `detect`, of the same curves, with notes as from `explanation.notes`.
    told
        Columns that the page's title names.
    runs
        Names of runs by their IDs, for those that nothing else distinguishes.
    """
    curves = curves[curves["size_bytes"] > 0]  # a logarithmic axis cannot show 0
    if curves.empty:
        return [], curves
    panels = "mpi" if "mpi" in curves and curves["mpi"].nunique() <= _MOST_PANELS else ""
    series = _Series.of(curves, findings, panels, _present(curves, *told), runs)
    figures = [
        series.figure(
            metric.word,
            f"{title}{metric.word if title else metric.word.capitalize()} against message size",
            metric,
        )
        for metric in (time_of(curves), BANDWIDTH)
    ]
    return figures, series.shown


def draw_pairing(name: str, pairing: Pairing) -> Figure:
    """Draw our curve and the baselines' curves from all launches, with a panel per placement."""
    told = [*pairing.place, "placement"]
    samples = pairing.samples[[*told, "kernel", *MEASURES]]
    curves = summarise(samples[samples["size_bytes"] > 0])
    metric = BANDWIDTH if pairing.mode in STREAMING else TIME
    title = f"{', '.join(pairing.place.values())}: {pairing.mode} and its baselines"
    return _Series.of(curves, None, "placement", told).figure(name, title, metric)


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
    return _Series.of(named, None, "mode", []).figure(name, title, TIME)


def draw_simulated(name: str, title: str, beside: pd.DataFrame) -> Figure:
    """Draw simulated and measured curves of one kernel and mode, a panel for each placement.

    Parameters
    ----------
    name, title
        Of the figure.
    beside
        As from `beside_measured`.
    """
    own = beside[beside["size_bytes"] > 0]
    kept = own[["site", "placement", "mpi", "environ", "ranks_on_nodes", "size_bytes"]]
    measured = kept.assign(
        source="measured", time_us=own["measured_us"], low_us=own["measured_low_us"],
        high_us=own["measured_high_us"], count=own["launches"],
    )  # fmt: skip
    exact = own["simulated_us"]
    simulated = kept.assign(source="simulated", time_us=exact, low_us=exact, high_us=exact, count=1)
    both = pd.concat([measured, simulated], ignore_index=True)
    return _Series.of(both, None, "placement", []).figure(name, title, TIME)


@dataclass(frozen=True)
class _Series:
    """Curves divided into panels and series, for figures of one or several metrics."""

    curves: pd.DataFrame
    panels: list[tuple[str, list[tuple[str, pd.DataFrame]]]]
    styles: Styles
    marks: Marks

    @classmethod
    def of(
        cls,
        curves: pd.DataFrame,
        findings: pd.DataFrame | None,
        panel_column: str,
        told: list[str],
        runs: Mapping[str, str] | None = None,
    ) -> _Series:
        """Divide curves by a column, and name them by what `told` and the panel do not tell."""
        styles = Styles(curves, [*told, *_present(curves, panel_column)], runs)
        divided = [
            (heading, [*styles.series(panel)]) for heading, panel in _panels(curves, panel_column)
        ]
        return cls(curves, divided, styles, Marks(findings))

    @property
    def shown(self) -> pd.DataFrame:
        """The points of the curves that are drawn."""
        if not self.styles.left_out:
            return self.curves
        drawn = [
            points for _, panel in self.panels for series, points in panel
            if series in self.styles.drawn
        ]  # fmt: skip
        return pd.concat(drawn).sort_index()

    def figure(self, name: str, title: str, metric: Metric) -> Figure:
        """Draw all panels in one metric."""
        data: list[Plotly] = []
        named: set[str] = set()
        for index, (_, panel) in enumerate(self.panels, start=1):
            number = index if index > 1 else ""
            axes = {"xaxis": f"x{number}", "yaxis": f"y{number}"}
            for series, points in panel:
                if series not in self.styles.drawn:
                    continue
                look, first = self.styles.look(series), series not in named
                named.add(series)
                traces = curve_traces(series, points, metric, axes, look, in_legend=first)
                traces += finding_traces(series, self.marks.on(points), metric, axes)
                data += traces if series in self.styles.visible else by_choice(traces, metric)
        headings = [heading for heading, _ in self.panels]
        layout = panel_layout(headings, self.curves, metric, len(named))
        return Figure(name, title, data, layout, self.styles.left_out)


def _panels(curves: pd.DataFrame, column: str) -> list[tuple[str, pd.DataFrame]]:
    if column not in curves:
        return [("", curves)]
    panels = [
        (value if isinstance(value, str) else "", panel)
        for value, panel in curves.groupby(column, dropna=False, observed=True)
    ]
    return sorted(panels, key=lambda panel: panel[0])


def _present(curves: pd.DataFrame, *names: str) -> list[str]:
    return [name for name in names if name in curves]
