"""`switchpoint detect`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from switchpoint.cli.inputs import fresh_warnings, load, store_of, warn
from switchpoint.cli.options import Files, Scheduler, Since, Store, Until
from switchpoint.cli.result import Result, verb
from switchpoint.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from switchpoint.data_warnings import DataWarning
    from switchpoint.tables.measurements import Measurements


@verb
def command(
    files: Files = None,
    store: Store = "results",
    since: Since = None,
    until: Until = None,
    last: Annotated[
        int,
        typer.Option(
            "--last",
            metavar="N",
            min=1,
            help="From the store: search the launches of the newest N sessions of each curve"
            " together.",
        ),
    ] = 1,
    show_all: Annotated[
        bool,
        typer.Option(
            "--all", help="Print each finding and each warning. --json always prints all findings."
        ),
    ] = False,
    sort: Annotated[
        str | None,
        typer.Option(
            "--sort",
            metavar="KEY",
            help="Sort by confidence (default), cost, time, curves or size.",
        ),
    ] = None,
    min_confidence: Annotated[
        float | None,
        typer.Option(
            "--min-confidence",
            metavar="P",
            min=0,
            max=1,
            help="Print steps of at least this confidence (0.85).",
            show_default=False,
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only", metavar="KIND", help="Print only this kind, such as step.", show_default=False
        ),
    ] = None,
    curve: Annotated[
        list[str] | None,
        typer.Option(
            "--curve",
            metavar="NAME=VALUE",
            help="Use only these curves, such as mpi=MPICH. A word alone matches any name.",
            show_default=False,
        ),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            "--report", metavar="FOLDER", help="Also write the HTML report into this folder."
        ),
    ] = None,
    scheduler: Scheduler = None,
) -> Result:
    """Find steps and other anomalies in the curves of FILEs or of the store's newest sessions."""
    from switchpoint.reporting.digest import SORTS, select_curves, select_kinds
    from switchpoint.reporting.json import findings_as_json

    if sort is not None and sort not in SORTS:
        raise InputError("--sort", f"'{sort}' is not a sort key; use one of {', '.join(SORTS)}")
    measurements = load(files, store, sessions=last, since=since, until=until, verbose=show_all)
    warnings = fresh_warnings(measurements, files)
    findings, curves = _find(measurements, curve or [], warnings, show_all=show_all)
    shown = select_kinds(select_curves(findings, curve or []), only or [])

    def print_all() -> None:
        from switchpoint.explanation.causes import PROMINENT_CONFIDENCE
        from switchpoint.reporting.disturbed import disturbed_text
        from switchpoint.reporting.terminal.findings import print_findings

        print_findings(
            shown,
            curves,
            _switches(measurements, findings, curve or []),
            disturbed=disturbed_text(measurements),
            show_all=show_all,
            sort=sort,
            min_confidence=PROMINENT_CONFIDENCE if min_confidence is None else min_confidence,
        )

    def write_report() -> list[Path]:
        if report is None:
            return []
        from switchpoint.reporting.pages.report import report as write
        from switchpoint.reporting.terminal.progress import progress

        with progress("writing the report"):
            return [write(measurements, report, findings, store_of(files, store))]

    return Result(print_all, lambda: {"findings": findings_as_json(shown)}, finish=write_report)


def _find(
    measurements: Measurements,
    wanted: list[str],
    warnings: list[DataWarning],
    *,
    show_all: bool,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return all findings and the points of the wanted curves; warnings go to stderr."""
    from switchpoint.detection.doubts import doubt_warnings
    from switchpoint.detection.launches import FEWEST_SIZES, MOST_SIZES
    from switchpoint.explanation.causes import detect
    from switchpoint.reporting.digest import select_curves
    from switchpoint.reporting.terminal.progress import progress
    from switchpoint.tables.curves import (
        few_sizes_warning,
        many_sizes_warnings,
        noise_warnings,
        summary_of,
    )

    with progress("detecting", len(measurements.curves)) as advance:
        findings = detect(measurements, advance)
    curves = select_curves(summary_of(measurements), wanted)
    if wanted and curves.empty:
        raise InputError("--curve", f"no curve matches {' and '.join(wanted)}")
    sizes = [*few_sizes_warning(curves, FEWEST_SIZES), *many_sizes_warnings(curves, MOST_SIZES)]
    noise = [*noise_warnings(curves), *doubt_warnings(curves, findings)]
    warn([*warnings, *noise, *sizes], verbose=show_all)
    return findings, curves


def _switches(
    measurements: Measurements, findings: pd.DataFrame, wanted: list[str]
) -> pd.DataFrame | None:
    """Explain the wanted curves' switches if there are zooms."""
    from switchpoint.explanation.switches import explain
    from switchpoint.reporting.digest import select_curves
    from switchpoint.tables.sweeps import ZOOM

    if not (measurements.runs["kernel"] == ZOOM).any():
        return None
    return select_curves(explain(measurements, findings), wanted)
