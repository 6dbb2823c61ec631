"""`switchpoint tune`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from switchpoint.cli.inputs import fresh_warnings, load_all
from switchpoint.cli.options import (
    Environ,
    Files,
    Mpi,
    MpichLibrary,
    Partition,
    Since,
    Store,
    Until,
)
from switchpoint.cli.result import Result, verb
from switchpoint.errors import InputError


@verb
def command(
    files: Files = None,
    store: Store = "results",
    since: Since = None,
    until: Until = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FOLDER",
            help="Write files that the MPI library reads.",
            show_default=False,
        ),
    ] = None,
    check: Annotated[
        Path | None,
        typer.Option(
            "--check",
            metavar="FOLDER",
            help="Check the rules of this folder with launches that use them and launches without;"
            " what does not win is withdrawn from its files.",
            show_default=False,
        ),
    ] = None,
    least_gain: Annotated[
        float,
        typer.Option(
            "--least-gain",
            metavar="PERCENT",
            min=0,
            help="An algorithm wins if every launch gains more.",
        ),
    ] = 5,
    commutative: Annotated[
        bool,
        typer.Option(
            "--commutative",
            help="Programs reduce only with operations that commute: allow Open MPI's algorithms"
            " that give wrong results otherwise.",
        ),
    ] = False,
    mpi: Mpi = None,
    placement: Annotated[
        str | None,
        typer.Option("--placement", metavar="NAME", help="The placement, if there are several."),
    ] = None,
    environ: Environ = None,
    site: Annotated[
        str | None, typer.Option("--site", metavar="NAME", help="The site, if there are several.")
    ] = None,
    partition: Partition = None,
    mpich_library: MpichLibrary = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace files that others wrote, too.")
    ] = False,
) -> Result:
    """Write rules for the algorithms of collectives that are faster in every launch."""
    from switchpoint.reporting.terminal.tune import print_tuning
    from switchpoint.tuning.files import write_tuning

    place = {
        "mpi": mpi, "placement": placement, "environ": environ, "site": site,
        "partition": partition,
    }  # fmt: skip
    if check is not None:
        _refuse_with_check(output, place)
    measurements = load_all(files, store, since=since, until=until)
    if check is None:
        from switchpoint.tuning.tune import tune

        tuning = tune(measurements, least_gain=least_gain / 100, commutative=commutative, **place)
        folder = output
    else:
        from switchpoint.tuning.checked import check_tuning

        source = str(files[0]) if files else store
        tuning = check_tuning(check, measurements, source, mpich_library=mpich_library)
        folder = check
    written = None
    if folder is not None:
        written = write_tuning(tuning, folder, mpich_library, force=force)
    return Result(
        lambda: print_tuning(tuning, written),
        lambda: tuning.model_dump(mode="json") | {"written": [str(path) for path in written or []]},
        warnings=fresh_warnings(measurements, files),
    )


def _refuse_with_check(output: Path | None, place: Mapping[str, str | None]) -> None:
    """Raise InputError for options that would be ignored."""
    if output is not None:
        raise InputError("--check", "rewrites its own folder; leave out --output")
    for name, value in place.items():
        if value is not None:
            raise InputError(
                f"--{name}",
                "chooses launches to make rules of; with --check the rules say where they hold:"
                " leave it out",
            )
