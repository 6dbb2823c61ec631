"""`switchpoint report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from switchpoint.cli.exits import show, user_mistakes
from switchpoint.cli.inputs import fresh_warnings, load, store_of, warn
from switchpoint.cli.options import Files, Json, Scheduler, Since, Store, Until


def command(
    files: Files = None,
    store: Store = "results",
    since: Since = None,
    until: Until = None,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="FOLDER", help="Write the pages into this folder."),
    ] = Path("report"),
    force: Annotated[
        bool,
        typer.Option(
            "--force", help="Also write into a folder with other files, none of which is replaced."
        ),
    ] = False,
    scheduler: Scheduler = None,
    as_json: Json = False,
) -> None:
    """Write HTML pages that work offline, from FILEs or the store's newest runs."""
    with user_mistakes():
        measurements = load(files, store, since=since, until=until)
        from switchpoint.models.simulated import left_out_of_simulated
        from switchpoint.reporting.pages.report import report
        from switchpoint.reporting.terminal.progress import progress

        with progress("writing the report"):
            page = report(measurements, output, store=store_of(files, store), force=force)
        warn([*fresh_warnings(measurements, files), *left_out_of_simulated(measurements)])
        if as_json:
            from switchpoint.reporting.json import print_json

            print_json({"report": str(page)})
        else:
            show(page)
