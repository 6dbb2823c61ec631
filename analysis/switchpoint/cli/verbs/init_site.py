"""`switchpoint init site`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from switchpoint.cli.exits import user_mistakes


def command(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="The system's name; it names its curves.")
    ],
    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FOLDER]", help="Where to, new or empty.  [default: site-configs/NAME]"
        ),
    ] = None,
    partition: Annotated[
        str | None,
        typer.Option(
            "--partition", metavar="NAME", help="Slurm's partition.  [default: Slurm's own default]"
        ),
    ] = None,
    ask: Annotated[
        bool,
        typer.Option("--ask/--no-ask", help="Ask Slurm, modules and compilers what there is."),
    ] = True,
) -> None:
    """Write a site's settings: what Slurm and the MPIs here tell, the rest marked for editing."""
    with user_mistakes():
        from switchpoint.sites.new_site import init_site

        for line in init_site(name, folder, partition, ask=ask):
            print(line)
