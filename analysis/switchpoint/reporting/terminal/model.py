"""Prints a fitted model, predictions, and predictions beside measurements."""

from __future__ import annotations

import math
from collections.abc import Iterable

import pandas as pd
from rich.console import Console
from rich.table import Table

from switchpoint.models.gaps import ComparedCurve
from switchpoint.models.site_model import Curve, Figure, SiteModel
from switchpoint.reporting.terminal.tables import SafeConsole, show_line, show_table
from switchpoint.tables.columns import records
from switchpoint.tables.units import counted, percent, range_text, significant, size_text

_ONE = {"launches": "launch", "passes": "pass"}


def print_model(model: SiteModel) -> None:
    """Print the line of each segment of each curve, and the compute rates."""
    console = SafeConsole()
    for curve in model.curves:
        show_line(console, _curve_name(curve), style="bold")
        table = _table("sizes", "start us", "MB/s", "points over line")
        for one in curve.segments:
            table.add_row(
                range_text(one.first_size_bytes, one.last_size_bytes),
                _figure(one.start_us),
                _rate(one.per_byte_us),
                f"{one.least_over_line:.2f} to {one.most_over_line:.2f}",
            )
        for lacking in curve.not_fitted:
            table.add_row("no line", "", "", lacking.reason)
        show_table(console, table)
    if model.loggp:
        show_line(console, "LogGP", style="bold")
        show_table(console, _loggp(model))
    for rate in model.compute_rates:
        name = f"{rate.kernel}, {rate.mode}" if rate.mode else rate.kernel
        show_line(console, f"{name}: {_figure(rate.time_us)} us for {rate.work}")
    for error in model.errors:
        ranks = f"{error.ranks} ranks" + (", nodes shared" if error.shared else "")
        show_line(
            console,
            f"{error.mpi}, {error.pattern},"
            f" {ranks}{', cores shared' if error.oversubscribed else ''}:"
            f" measured {percent(math.expm1(-error.low))} to {percent(math.expm1(error.high))}"
            f" beside the links' bounds ({counted(error.points, 'point')})",
        )


def _loggp(model: SiteModel) -> Table:
    """Return a table of the parameters of each placement."""
    table = _table("MPI", "placement", "L us", "o us", "g us", "1/G MB/s", "S bytes")
    for place in model.loggp:
        per_byte_us, eager = place.gap_per_byte_us, place.eager_last_size_bytes
        table.add_row(
            place.mpi or "-", place.placement, significant(place.latency_us),
            "-" if place.overhead_us is None else significant(place.overhead_us),
            significant(place.gap_us), significant(1 / per_byte_us) if per_byte_us else "-",
            "-" if eager is None else f"{eager:,}",
        )  # fmt: skip
    return table


def print_predictions(table: pd.DataFrame) -> None:
    """Print predicted times, and once each what limits them."""
    console = SafeConsole()
    shown = _table("kernel", "mode", "placement", "map", "size", "predicted us", "90 % between")
    for row in table.to_dict("records"):
        shown.add_row(
            str(row["kernel"]), str(row["mode"]), str(row["placement"]), str(row["process_map"]),
            size_text(row["size_bytes"]), significant(row["time_us"]),
            f"{significant(row['low_us'])} and {significant(row['high_us'])}",
        )  # fmt: skip
    show_table(console, shown)
    _print_notes(console, table["notes"])


def print_comparison(comparison: pd.DataFrame) -> None:
    """Print each predicted point beside the measured one, then the gaps in words."""
    console = SafeConsole()
    known = comparison[comparison["predicted_us"].notna()]
    shown = _table("MPI", "placement", "mode", "map", "size", "predicted us", "measured us",
                   "error", "gap")  # fmt: skip
    for row in records(known, ComparedCurve):
        shown.add_row(
            row["mpi"] or "-", str(row["placement"]), str(row["mode"]), row["ranks_on_nodes"],
            size_text(row["size_bytes"]),
            _with_interval(row["predicted_us"], row["predicted_low_us"], row["predicted_high_us"]),
            _with_interval(row["measured_us"], row["measured_low_us"], row["measured_high_us"]),
            percent(row["error"]),
            "prediction gap" if row["gap"] else "",
        )  # fmt: skip
    show_table(console, shown)
    gaps = known[known["gap"].astype(bool)]
    for words, rows in gaps.groupby("looks_like", sort=True):
        show_line(console, f"{counted(len(rows), 'prediction gap')} like {words}")
    if len(known):
        error = known["error"].astype(float).abs().median()
        show_line(
            console,
            f"median error {100 * error:.1f} % of {counted(len(known), 'point')},"
            f" {counted(len(gaps), 'gap')}",
        )
    _print_notes(console, comparison["notes"])


def _print_notes(console: Console, notes: Iterable[list[str]]) -> None:
    for note in dict.fromkeys(note for some in notes for note in some):
        show_line(console, f"note: {note}")


def _curve_name(curve: Curve) -> str:
    labels = [f"{name}={value}" for name, value in curve.labels.items()]
    words = [curve.partition, curve.mpi, curve.placement, curve.mode, *labels]
    name = ", ".join(word for word in words if word)
    over = curve.interval_over if curve.repeats != 1 else _ONE[curve.interval_over]
    return f"{name} ({curve.repeats} {over})"


def _table(*headings: str) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0))
    for heading in headings:
        table.add_column(heading)
    return table


def _figure(figure: Figure) -> str:
    if figure.low is None or figure.high is None:
        return significant(figure.value)
    return f"{significant(figure.value)} [{significant(figure.low)}, {significant(figure.high)}]"


def _rate(per_byte_us: Figure) -> str:
    """Write a time per byte as the bandwidth that it is, in MB/s."""
    if per_byte_us.value == 0:
        return "-"
    value = significant(1 / per_byte_us.value)
    if not per_byte_us.low or not per_byte_us.high:
        return value
    return f"{value} [{significant(1 / per_byte_us.high)}, {significant(1 / per_byte_us.low)}]"


def _with_interval(middle: float, low: float, high: float) -> str:
    return f"{significant(middle)} [{significant(low)}, {significant(high)}]"
