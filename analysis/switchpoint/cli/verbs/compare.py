"""`switchpoint compare`."""

from __future__ import annotations

from typing import Annotated

import typer

from switchpoint.cli.exits import user_mistakes
from switchpoint.cli.inputs import warn
from switchpoint.cli.options import Json, Last, Store


def command(
    selections: Annotated[
        list[str],
        typer.Argument(
            metavar="A B [C]...",
            help="What to compare: site=NAME,mpi=NAME and other columns, run=ID, session=ID,"
            " since=DATE,until=DATE, or a file or folder.",
            show_default=False,
        ),
    ],
    store: Store = "results",
    last: Last = 1,
    show_all: Annotated[
        bool, typer.Option("--all", help="Print also each range of sizes of each pair of curves.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Compare A with B: which is faster, at which sizes, by how much, and what differs."""
    with user_mistakes():
        from switchpoint.comparison.compare import compare
        from switchpoint.reporting.terminal.progress import progress

        with progress("comparing"):
            found = compare(*selections, store=store, last=last)
        warn(found.warnings)
        if as_json:
            from switchpoint.reporting.json import comparison_as_json, print_json

            print_json(comparison_as_json(found))
        else:
            from switchpoint.reporting.terminal.comparison import print_comparison

            print_comparison(found, show_all=show_all)
