"""`switchpoint compare`."""

from __future__ import annotations

from typing import Annotated

import typer

from switchpoint.cli.options import Last, Store
from switchpoint.cli.result import Result, verb


@verb
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
) -> Result:
    """Compare A with B: which is faster, at which sizes, by how much, and what differs."""
    from switchpoint.comparison.compare import compare
    from switchpoint.reporting.json import comparison_as_json
    from switchpoint.reporting.terminal.comparison import print_comparison
    from switchpoint.reporting.terminal.progress import progress

    with progress("comparing"):
        comparison = compare(*selections, store=store, last=last)
    return Result(
        lambda: print_comparison(comparison, show_all=show_all),
        lambda: comparison_as_json(comparison),
        warnings=comparison.warnings,
    )
