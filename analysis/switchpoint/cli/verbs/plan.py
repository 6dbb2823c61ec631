"""`switchpoint plan`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from switchpoint.cli.exits import user_mistakes
from switchpoint.cli.inputs import warn
from switchpoint.cli.options import Json


def command(
    record: Annotated[
        Path, typer.Argument(metavar="RECORD", help="The record of a sweep or of a zoom.")
    ],
    modes: Annotated[
        str, typer.Option("--mode", metavar="NAMES", help="The modes of the zoom.")
    ] = "send,ssend",
    setting: Annotated[
        str | None,
        typer.Option("--setting", metavar="NAME", help="After a zoom: change this setting first."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Print what to measure after RECORD: brackets for a zoom, or settings to change."""
    with user_mistakes():
        from switchpoint.explanation.plan import plan

        planned = plan(record, modes.split(","), setting)
        warn(planned.notes, verbose=True)
        if as_json:
            from switchpoint.reporting.json import plan_as_json, print_json

            print_json(plan_as_json(planned))
        else:
            from switchpoint.reporting.terminal.plan import print_plan

            print_plan(planned)
