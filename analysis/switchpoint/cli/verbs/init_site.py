"""`switchpoint init site`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from switchpoint.cli.exits import show
from switchpoint.cli.result import Result, verb_without_json


@verb_without_json
def command(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help="The name of the system. It becomes the site of its curves."
        ),
    ],
    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="FOLDER", help="A new or empty folder.  [default: site-configs/NAME]"
        ),
    ] = None,
    partition: Annotated[
        str | None,
        typer.Option(
            "--partition", metavar="NAME", help="Slurm's partition.  [default: Slurm's default]"
        ),
    ] = None,
    ask: Annotated[
        bool,
        typer.Option("--ask/--no-ask", help="Ask Slurm, modules and compilers about this system."),
    ] = True,
) -> Result:
    """Write a site's settings from what Slurm and the MPIs report. Mark the rest for editing."""
    from switchpoint.sites.new_site import init_site

    lines = init_site(name, folder, partition, ask=ask)
    return Result(lambda: show(*lines))
