"""`switchpoint claims`."""

from __future__ import annotations

from typing import Annotated

import typer

from switchpoint.cli.exits import user_mistakes
from switchpoint.cli.inputs import fresh_warnings, load_all, newest_records, warn
from switchpoint.cli.options import Files, Json, Since, Store, Until


def command(
    files: Files = None,
    store: Store = "results",
    since: Since = None,
    until: Until = None,
    study: Annotated[
        str | None,
        typer.Option("--study", metavar="NUMBER", help="Test only this study, such as 002."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Test the claims of the five studies with the runs of FILEs or the newest of the store."""
    with user_mistakes():
        measurements = (
            load_all(files, store, since=since, until=until)
            if files
            else newest_records(store, since=since, until=until)
        )
        from switchpoint.models.kernel_arguments import options_by_run
        from switchpoint.reporting.terminal.progress import progress
        from switchpoint.studies.claims import claims, efficiencies

        with progress("testing claims"):
            found = claims(measurements, study)
        warn([*fresh_warnings(measurements, files), *options_by_run(measurements)[1]])
        if as_json:
            from switchpoint.reporting.json import claims_as_json, print_json

            print_json(claims_as_json(found, efficiencies(measurements)))
        else:
            from switchpoint.reporting.terminal.claims import print_claims

            print_claims(found)
