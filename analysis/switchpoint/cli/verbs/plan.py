"""`switchpoint plan`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from switchpoint.cli.result import Result, verb
from switchpoint.data_warnings import DataWarning


@verb
def command(
    record: Annotated[
        Path, typer.Argument(metavar="RECORD", help="The record of a sweep or of a zoom.")
    ],
    modes: Annotated[
        str | None,
        typer.Option(
            "--mode",
            metavar="NAMES",
            help="The modes of the zoom (send,ssend; library after a collective).",
        ),
    ] = None,
    setting: Annotated[
        str | None,
        typer.Option("--setting", metavar="NAME", help="After a zoom: change this setting first."),
    ] = None,
) -> Result:
    """Print what to measure after RECORD: brackets for a zoom, or settings to change."""
    from switchpoint.explanation.plan import plan
    from switchpoint.reporting.json import plan_as_json
    from switchpoint.reporting.terminal.plan import print_plan

    planned = plan(record, None if modes is None else modes.split(","), setting)
    return Result(
        lambda: print_plan(planned),
        lambda: plan_as_json(planned),
        warnings=[DataWarning("steps_not_searched", note) for note in planned.notes],
        verbose=True,
    )
