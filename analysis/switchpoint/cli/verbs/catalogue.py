"""`switchpoint catalogue list | export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from switchpoint.cli.exits import user_mistakes
from switchpoint.cli.options import Json
from switchpoint.errors import InputError

app = typer.Typer(
    no_args_is_help=True, help="Show the catalogue of causes, and what this site learned."
)


@app.command("list")
def list_entries(
    record: Annotated[
        Path | None,
        typer.Argument(
            metavar="RECORD",
            help="Only settings that count for this run record, with their values in it.",
            show_default=False,
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """List the settings that are known to move a switch or a step."""
    with user_mistakes():
        from switchpoint.explanation.entries import all_entries, entries_of

        entries = all_entries() if record is None else entries_of(record)
        if as_json:
            from switchpoint.reporting.json import entries_as_json, print_json

            print_json(entries_as_json(entries))
        else:
            from switchpoint.reporting.terminal.catalogue import print_entries

            print_entries(entries)


@app.command("export")
def export() -> None:
    """Print the settings that this site verified as YAML, to contribute them to Switchpoint."""
    with user_mistakes():
        from switchpoint.explanation.catalogue import VARIABLE, own_file
        from switchpoint.explanation.own_catalogue import as_yaml, contribution

        file = own_file()
        if file is None:
            raise InputError(VARIABLE, "is not set; let it name the catalogue of your site")
        print(as_yaml(contribution(file)), end="")
