"""`switchpoint catalogue list | export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from switchpoint.cli.result import Result, verb, verb_without_json
from switchpoint.errors import InputError

app = typer.Typer(
    no_args_is_help=True, help="Show the catalogue of causes, and what this site learned."
)


@app.command("list")
@verb
def list_entries(
    record: Annotated[
        Path | None,
        typer.Argument(
            metavar="RECORD",
            help="Only settings that count for this run record, with their values in it.",
            show_default=False,
        ),
    ] = None,
) -> Result:
    """List the settings that are known to move a switch or a step."""
    from switchpoint.explanation.entries import all_entries, entries_of
    from switchpoint.reporting.json import entries_as_json
    from switchpoint.reporting.terminal.catalogue import print_entries

    entries = all_entries() if record is None else entries_of(record)
    return Result(lambda: print_entries(entries), lambda: entries_as_json(entries))


@app.command("export")
@verb_without_json
def export() -> Result:
    """Print the settings that this site verified as YAML, to contribute them to Switchpoint."""
    from switchpoint.explanation.catalogue import VARIABLE, own_file
    from switchpoint.explanation.own_catalogue import as_yaml, contribution

    file = own_file()
    if file is None:
        raise InputError(VARIABLE, "is not set; let it name the catalogue of your site")
    text = as_yaml(contribution(file))
    return Result(lambda: print(text, end=""))
