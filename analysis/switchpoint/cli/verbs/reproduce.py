"""`switchpoint reproduce`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from switchpoint.cli.exits import show
from switchpoint.cli.options import Store
from switchpoint.cli.result import Result, verb


@verb
def command(
    run: Annotated[
        str,
        typer.Argument(
            metavar="RUN",
            help="The file of a run record, or the first digits of a run ID in the store.",
        ),
    ],
    store: Store = "results",
    write: Annotated[
        Path | None,
        typer.Option("--write", metavar="DIR", help="Write a new folder with run.sh."),
    ] = None,
) -> Result:
    """Print how to run RUN again, and what differs on this machine."""
    from switchpoint.reporting.json import recipe_as_json
    from switchpoint.reporting.terminal.recipe import print_recipe
    from switchpoint.reproduction.differences import differences
    from switchpoint.reproduction.folder import lay_out
    from switchpoint.reproduction.recipe import reproduce

    recipe = reproduce(run, store)
    different = differences(recipe)
    if write is not None:
        lay_out(recipe, write, different)

    def show_all_forms() -> None:
        print_recipe(recipe, different)
        if write is not None:
            show(f"Written: {write}/README.md, {write}/run.sh")

    return Result(show_all_forms, lambda: recipe_as_json(recipe, different, write))
