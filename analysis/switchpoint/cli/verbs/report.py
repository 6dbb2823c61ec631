"""`switchpoint report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from switchpoint.cli.exits import show, user_mistakes
from switchpoint.cli.inputs import load, warn
from switchpoint.cli.options import Files, Json, Scheduler, Since, Store, Until


def command(
    files: Files = None,
    store: Store = "results",
    since: Since = None,
    until: Until = None,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="FOLDER", help="Write index.html into this folder."),
    ] = Path("report"),
    scheduler: Scheduler = None,
    as_json: Json = False,
) -> None:
    """Write one HTML page that works offline, from FILEs or the store's newest runs."""
    with user_mistakes():
        measurements = load(files, store, since=since, until=until)
        from switchpoint.reporting.page import report

        page = report(measurements, output)
        warn(measurements.warnings)
        if as_json:
            from switchpoint.reporting.json import print_json

            print_json({"report": str(page)})
        else:
            show(page)
