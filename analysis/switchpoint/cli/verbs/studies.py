"""`switchpoint studies`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from switchpoint.cli.exits import show, user_mistakes
from switchpoint.cli.inputs import newest_records, warn
from switchpoint.cli.options import Json


def command(
    store: Annotated[
        str, typer.Argument(metavar="[STORE]", help="The store: a folder or an fsspec URL.")
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
    as_json: Json = False,
) -> None:
    """Write a page for each of the five studies: its figures beside those of the store."""
    with user_mistakes():
        measurements = newest_records(store)
        from switchpoint.reporting.studies.pages import write_studies
        from switchpoint.reporting.terminal.progress import progress

        with progress("writing the studies"):
            pages = write_studies(measurements, output, force=force)
        warn(measurements.warnings)
        if as_json:
            from switchpoint.reporting.json import print_json

            print_json({"pages": [str(page) for page in pages]})
        else:
            for page in pages:
                show(page)
