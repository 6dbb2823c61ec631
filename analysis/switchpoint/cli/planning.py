"""The verb `plan`: what to measure next."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from switchpoint.cli.command import _Json, _print_json, _user_mistakes, app
from switchpoint.printable import printable


@app.command("plan")
def plan_command(
    record: Annotated[
        Path, typer.Argument(metavar="RECORD", help="The record of a sweep or of a zoom.")
    ],
    modes: Annotated[
        str, typer.Option("--mode", metavar="NAMES", help="Modes that the zoom times.")
    ] = "send,ssend",
    setting: Annotated[
        str | None,
        typer.Option("--setting", metavar="NAME", help="After a zoom: move this setting."),
    ] = None,
    value: Annotated[
        int | None,
        typer.Option("--value", metavar="BYTES", help="After a zoom: the setting's new value."),
    ] = None,
    as_json: _Json = False,
) -> None:
    """Say what to measure after RECORD: a zoom into a sweep's steps, or a setting to move."""
    with _user_mistakes():
        from switchpoint.explanation.plan import plan

        planned = plan(record, modes.split(","), setting, value)
        moved = planned.intervention
        if as_json:
            _print_json(
                {
                    "brackets": [
                        {"mode": mode, "last_size_before": last, "size_bytes": first}
                        for mode, last, first in planned.brackets
                    ],
                    "intervention": moved and vars(moved),
                }
            )
        elif not planned.brackets:
            print("Nothing to measure next: no step, or no setting that is known to move one.")
        else:
            brackets = ",".join(f"{mode}:{last}-{first}" for mode, last, first in planned.brackets)
            words = [] if moved is None else [f"{moved.environment}={moved.value}"]
            command = f"zoom --mode=late,{modes} --brackets={brackets}"
            print(printable(" ".join([*words, command])))
