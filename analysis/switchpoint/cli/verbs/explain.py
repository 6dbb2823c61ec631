"""`switchpoint explain`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from switchpoint.cli.inputs import fresh_warnings, load, warn
from switchpoint.cli.options import Files, Scheduler, Since, Store, Until
from switchpoint.cli.result import Result, verb
from switchpoint.errors import InputError

if TYPE_CHECKING:
    import pandas as pd


@verb
def command(
    files: Files = None,
    store: Store = "results",
    since: Since = None,
    until: Until = None,
    near: Annotated[
        str | None,
        typer.Option(
            "--near", metavar="SIZE", help="Print only switches within 10 % of SIZE, as sentences."
        ),
    ] = None,
    placement: Annotated[
        str | None, typer.Option("--placement", metavar="NAME", help="Print only this placement.")
    ] = None,
    mode: Annotated[
        str | None,
        typer.Option("--mode", metavar="NAME", help="Print only this mode, such as send."),
    ] = None,
    show_all: Annotated[
        bool,
        typer.Option(
            "--all", help="Also print small steps without a cause. --json always prints them."
        ),
    ] = False,
    scheduler: Scheduler = None,
) -> Result:
    """Locate each switch to the byte and name its cause, from sweeps, zooms and interventions."""
    from switchpoint.explanation.eager import stayed_eager
    from switchpoint.explanation.switches import explain, near_size
    from switchpoint.reporting.json import eager_as_json, switches_as_json
    from switchpoint.reporting.terminal.progress import progress

    size = _size(near)
    measurements = load(files, store, since=since, until=until)
    with progress("explaining"):
        switches = explain(measurements)
    eager = stayed_eager(measurements)
    warn(fresh_warnings(measurements, files))
    for column, wanted in (("placement", placement), ("mode", mode)):
        if wanted is not None:
            # A zoom can report on modes without samples.
            _check_known(column, wanted, [measurements.samples, switches, eager])
            switches = switches[switches[column] == wanted]
            eager = eager[eager[column] == wanted]
    if size is not None:
        switches = near_size(switches, size)
    return Result(
        lambda: _print(switches, eager, size, show_all=show_all),
        lambda: {"switches": switches_as_json(switches), "stayed_eager": eager_as_json(eager)},
    )


def _size(near: str | None) -> int | None:
    from switchpoint.tables.units import bytes_of

    size = None if near is None else bytes_of(near)
    if near is not None and size is None:
        raise InputError("--near", f"'{near}' is not a size; write it as 65536 or 64k")
    return size


def _check_known(column: str, wanted: str, tables: list[pd.DataFrame]) -> None:
    """Raise InputError if none of the tables has the wanted value in a column."""
    there = sorted(
        {value for table in tables if column in table for value in table[column].dropna().unique()}
    )
    if wanted not in there:
        known = ", ".join(there) or "none"
        raise InputError(f"--{column}", f"no run has {column} '{wanted}'; they have: {known}")


def _print(
    switches: pd.DataFrame, eager: pd.DataFrame, size: int | None, *, show_all: bool
) -> None:
    from switchpoint.reporting.terminal.switches import (
        print_sentences,
        print_stayed_eager,
        print_switches,
    )

    if size is None:
        print_switches(switches, show_all=show_all)
    elif eager.empty or not switches.empty:
        print_sentences(switches, size)
    print_stayed_eager(eager)
