"""`switchpoint bundle`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from switchpoint.cli.options import Last, Store
from switchpoint.cli.result import Result, verb


@verb
def command(
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="Write this file.")
    ],
    selection: Annotated[
        str,
        typer.Argument(
            metavar="SELECTION",
            help="As for `switchpoint compare`. Default: the store.",
            show_default=False,
        ),
    ] = "",
    store: Store = "results",
    last: Last = 1,
    replace_names: Annotated[
        bool,
        typer.Option("--replace-names", help="Replace names of hosts, users and paths."),
    ] = False,
) -> Result:
    """Write one file with curves, facts and findings, which another site can import."""
    from switchpoint.comparison.bundle import bundle
    from switchpoint.reporting.json import warnings_as_json
    from switchpoint.reporting.terminal.bundle import print_bundle
    from switchpoint.reporting.terminal.progress import progress

    with progress("bundling"):
        made = bundle(selection, output, store, last=last, replace_names=replace_names)
    return Result(
        lambda: print_bundle(made),
        lambda: {**made, **warnings_as_json(made["warnings"])},
        warnings=made["warnings"],
    )
