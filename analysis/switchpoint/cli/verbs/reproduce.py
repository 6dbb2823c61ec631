"""`switchpoint reproduce`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from switchpoint.cli.exits import show, user_mistakes
from switchpoint.cli.options import Json, Store


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
    as_json: Json = False,
) -> None:
    """Print how to run RUN again, and what differs on this machine."""
    with user_mistakes():
        from switchpoint.reproduction.differences import differences
        from switchpoint.reproduction.folder import lay_out
        from switchpoint.reproduction.recipe import reproduce

        recipe = reproduce(run, store)
        found = differences(recipe)
        if write is not None:
            lay_out(recipe, write, found)
        if as_json:
            from switchpoint.reporting.json import print_json, recipe_as_json

            print_json(recipe_as_json(recipe, found, write))
        else:
            from switchpoint.reporting.terminal.recipe import print_recipe

            print_recipe(recipe, found)
            if write is not None:
                show(f"Written: {write}/README.md, {write}/run.sh")
