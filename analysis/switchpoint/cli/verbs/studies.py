"""`switchpoint studies`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from switchpoint.cli.exits import show
from switchpoint.cli.inputs import newest_records
from switchpoint.cli.result import Result, verb


@verb
def command(
    store: Annotated[
        str, typer.Argument(metavar="STORE", help="The store: a folder or an fsspec URL.")
    ] = "results",
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="FOLDER", help="Write the pages into this folder."),
    ] = Path("studies"),
    force: Annotated[
        bool,
        typer.Option(
            "--force", help="Also write into a folder with other files, none of which is replaced."
        ),
    ] = False,
) -> Result:
    """Write a page for each of the five studies: its figures beside those of the store."""
    measurements = newest_records(store)
    from switchpoint.reporting.studies.pages import write_studies
    from switchpoint.reporting.terminal.progress import progress

    with progress("writing the studies"):
        pages = write_studies(measurements, output, force=force)

    return Result(
        lambda: show(*pages),
        lambda: {"pages": [str(page) for page in pages]},
        warnings=measurements.warnings,
    )
