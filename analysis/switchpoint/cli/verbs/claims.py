"""`switchpoint claims`."""

from __future__ import annotations

from typing import Annotated

import typer

from switchpoint.cli.inputs import fresh_warnings, load_all, newest_records
from switchpoint.cli.options import Files, Since, Store, Until
from switchpoint.cli.result import Result, verb


@verb
def command(
    files: Files = None,
    store: Store = "results",
    since: Since = None,
    until: Until = None,
    study: Annotated[
        str | None,
        typer.Option("--study", metavar="NUMBER", help="Test only this study, such as 002."),
    ] = None,
) -> Result:
    """Test the claims of the five studies with the runs of FILEs or the newest of the store."""
    measurements = (
        load_all(files, store, since=since, until=until)
        if files
        else newest_records(store, since=since, until=until)
    )
    from switchpoint.models.kernel_arguments import options_by_run
    from switchpoint.reporting.json import claims_as_json
    from switchpoint.reporting.terminal.claims import print_claims
    from switchpoint.reporting.terminal.progress import progress
    from switchpoint.studies.claims import claims, efficiencies

    with progress("testing claims"):
        verdicts = claims(measurements, study)
    return Result(
        lambda: print_claims(verdicts),
        lambda: claims_as_json(verdicts, efficiencies(measurements)),
        warnings=[*fresh_warnings(measurements, files), *options_by_run(measurements)[1]],
    )
