"""`switchpoint claims`."""

from __future__ import annotations

from typing import Annotated

import typer

from switchpoint.cli.exits import user_mistakes
from switchpoint.cli.inputs import load_all, warn
from switchpoint.cli.options import Files, Json, Store


def command(
    files: Files = None,
    store: Store = "results",
    study: Annotated[
        str | None, typer.Option("--study", metavar="NUMBER", help="Only this one, such as 002.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Test what the five studies claim against the runs of FILEs, or all runs of the store."""
    with user_mistakes():
        measurements = load_all(files, store)
        from switchpoint.studies.claims import claims, efficiencies

        found = claims(measurements, study)
        warn(measurements.warnings)
        if as_json:
            from switchpoint.reporting.json import claims_as_json, print_json

            print_json(claims_as_json(found, efficiencies(measurements)))
        else:
            from switchpoint.reporting.terminal.claims import print_claims

            print_claims(found)
