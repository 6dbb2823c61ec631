"""`switchpoint claims`."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from switchpoint.cli.exits import user_mistakes
from switchpoint.cli.inputs import load_all, warn
from switchpoint.cli.options import Files, Json, Since, Store, Until

if TYPE_CHECKING:
    from switchpoint.tables.measurements import Measurements

#: Sessions of a curve that count: more hardly change a verdict, and each run needs memory.
_SESSIONS = 100


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
        measurements = _records(files, store, since, until)
        from switchpoint.models.kernel_arguments import options_by_run
        from switchpoint.reporting.terminal.progress import progress
        from switchpoint.studies.claims import claims, efficiencies

        with progress("testing claims"):
            found = claims(measurements, study)
        warn([*measurements.warnings, *options_by_run(measurements)[1]])
        if as_json:
            from switchpoint.reporting.json import claims_as_json, print_json

            print_json(claims_as_json(found, efficiencies(measurements)))
        else:
            from switchpoint.reporting.terminal.claims import print_claims

            print_claims(found)


def _records(
    files: list[Path] | None, store: str, since: str | None, until: str | None
) -> Measurements:
    """Return what claims are tested with: of a store only run records, which prove their ranks.

    A store may contain a million runs. Of those of a curve the newest are enough, and only these
    are in memory.
    """
    if files:
        return load_all(files, store, since=since, until=until)
    from switchpoint.reporting.terminal.progress import status
    from switchpoint.store.store import Store
    from switchpoint.tables.measurements import Measurements, no_samples

    opened = Store(store)
    all_runs = opened.count(format="record", since=since, until=until)
    if not all_runs and not opened.runs(since=since, until=until).empty:
        return Measurements(no_samples())
    reading = f"reading the newest {_SESSIONS} sessions of each curve"
    with status(reading) if all_runs else contextlib.nullcontext():
        found = opened.latest(_SESSIONS, format="record", since=since, until=until)
    older = all_runs - len(found.runs)
    if older > 0:
        warn(
            [
                f"of each curve the newest {_SESSIONS} sessions count: {older:,} older runs are"
                " left out; --since and --until choose others"
            ]
        )
    return found
