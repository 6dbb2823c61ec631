"""`switchpoint report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from switchpoint.cli.exits import show
from switchpoint.cli.inputs import fresh_warnings, load, store_of
from switchpoint.cli.options import Files, Scheduler, Since, Store, Until
from switchpoint.cli.result import Result, verb


@verb
def command(
    files: Files = None,
    store: Store = "results",
    since: Since = None,
    until: Until = None,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="FOLDER", help="Write the pages into this folder."),
    ] = Path("report"),
    rules: Annotated[
        list[Path] | None,
        typer.Option(
            "--rules",
            metavar="FOLDER",
            help="Also show these rules of `switchpoint tune`.",
            show_default=False,
        ),
    ] = None,
    force: Annotated[
        bool,
        typer.Option(
            "--force", help="Also write into a folder with other files, none of which is replaced."
        ),
    ] = False,
    scheduler: Scheduler = None,
) -> Result:
    """Write HTML pages that work offline, from FILEs or the store's newest runs."""
    measurements = load(files, store, since=since, until=until)
    from switchpoint.models.simulated import left_out_of_simulated
    from switchpoint.reporting.pages.report import report
    from switchpoint.reporting.terminal.progress import progress

    with progress("writing the report"):
        store_read = store_of(files, store)
        page = report(measurements, output, store=store_read, rules=rules or (), force=force)
    return Result(
        lambda: show(page),
        lambda: {"report": str(page)},
        warnings=[*fresh_warnings(measurements, files), *left_out_of_simulated(measurements)],
    )
