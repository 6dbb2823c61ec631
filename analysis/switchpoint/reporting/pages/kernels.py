"""The page of a kernel and its mode: its curves in time and bandwidth, samples, findings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pandas as pd

from switchpoint.reporting.figures.curves import draw, draw_simulated
from switchpoint.reporting.figures.figure import Figure
from switchpoint.reporting.figures.scatter import draw_scatter
from switchpoint.reporting.pages.contents import Contents, kernel_path
from switchpoint.reporting.pages.page import (
    Page,
    Plot,
    Row,
    Section,
    Table,
    number,
    share,
    whole_number,
    word,
)
from switchpoint.reporting.pages.tables import finding_tables, size_table
from switchpoint.tables.columns import CURVE_COLUMNS, records

CURVES = (
    "Lines are medians, and bands are their 95 % confidence intervals. Triangles mark steps and"
    " point up if the time rises. Crosses mark changes of slope. Both are at the first size after"
    " the change. Circles mark single sizes that deviate. Click a name in the legend to show or"
    " hide its curve; double-click to show it alone."
)

_SCATTER = (
    "Which share of a curve's samples took at most so much longer than the median of their size,"
    " over all sizes: the steeper, the steadier. A dozen curves at most."
)


_SIMULATED = (
    "Simulated by SimGrid on the links of a site model, and measured by the same ranks on as many"
    " nodes. The measured time is the median over launches, with its 95 % interval. The error is"
    " the measured time over the simulated one, minus 1."
)


def kernel_pages(contents: Contents) -> Iterator[Page]:
    """Yield the page of each kernel and mode."""
    for kernel, mode in contents.kernels:
        curves = _of(contents.curves, kernel, mode)
        findings = _of(contents.findings, kernel, mode)
        title = ", ".join(name for name in (kernel, mode) if name) or "Curves"
        told = [name for name in ("kernel", "mode") if name in curves]
        plots = curve_plots(f"{title}: ", curves, findings, told, contents.run_names)
        left_out = max((plot.figure.left_out for plot in plots), default=0)
        more = (
            f" {left_out:,} more curves are only on the pages of their runs, listed below."
            if left_out
            else ""
        )
        samples = contents.measurements.samples
        scatter = draw_scatter(
            "scatter", f"{title}: scatter of samples", samples, curves, told, contents.run_names
        )
        yield Page(
            kernel_path(kernel, mode),
            title,
            [f"{_count(curves):,} curves and {len(findings):,} findings."],
            sections=[
                Section("curves", "Curves", CURVES + more, plots),
                Section("samples", "Scatter of the samples", _SCATTER, _plots(scatter)),
                *_simulated(title, _of(contents.beside_measured, kernel, mode)),
                Section(
                    "findings", "Findings", tables=finding_tables(findings, contents.page_of, told)
                ),
                Section(
                    "sizes", "At chosen sizes", tables=size_table(curves, contents.page_of, told)
                ),
            ],
        )


def _plots(drawn: tuple[Figure, pd.DataFrame] | None) -> list[Plot]:
    return [] if drawn is None else [Plot("samples", *drawn)]


def _simulated(title: str, beside: pd.DataFrame) -> Iterator[Section]:
    """Show what was both simulated and measured."""
    if beside.empty:
        return
    figure = draw_simulated("beside", f"{title}: simulated beside measured", beside)
    rows = [
        Row(
            [
                *(word(row[name]) for name in ("site", "placement", "mpi", "ranks_on_nodes")),
                whole_number(row["size_bytes"]),
                number(row["simulated_us"]),
                number(row["measured_us"]),
                number(row["measured_low_us"]),
                number(row["measured_high_us"]),
                whole_number(row["launches"]),
                share(row["error"]),
            ]
        )
        for row in records(beside)
    ]
    headings = ["site", "placement", "MPI", "ranks on nodes", "size / B", "simulated / µs",
                "measured / µs", "low", "high", "launches", "error"]  # fmt: skip
    share_of_errors = f"Median absolute error: {100 * beside['error'].abs().median():.0f} %."
    table = Table("simulated-table", headings, rows, share_of_errors)
    plots = [Plot("simulated", figure, beside)]
    yield Section("simulated", "Simulated beside measured", _SIMULATED, plots, "", [table])


def curve_plots(
    title: str,
    curves: pd.DataFrame,
    findings: pd.DataFrame,
    told: list[str],
    runs: Mapping[str, str] | None = None,
) -> list[Plot]:
    """Draw curves with their findings, each figure with the values that it shows."""
    figures, shown = draw(title, curves, findings, told, runs)
    dropped = {"mad_us", "error_us", "trimmed_us", "min_us"}
    if (shown["count"] == 1).all():
        dropped |= {"low_us", "high_us"}  # a single value has no interval
    kept = [name for name in shown if name not in CURVE_COLUMNS and shown[name].notna().any()]
    values = shown[[*kept, *(name for name in CURVE_COLUMNS if name not in dropped)]]
    return [Plot("curves", figure, values) for figure in figures]


def _of(table: pd.DataFrame, kernel: str | None, mode: str | None) -> pd.DataFrame:
    """Return the rows of a kernel and mode; None stands for no value."""
    for name, value in (("kernel", kernel), ("mode", mode)):
        if name in table:
            table = table[table[name].isna() if value is None else table[name] == value]
    return table


def _count(curves: pd.DataFrame) -> int:
    identity = [name for name in curves if name not in CURVE_COLUMNS]
    return len(curves[identity].drop_duplicates())
