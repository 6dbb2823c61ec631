"""`switchpoint bundle`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from switchpoint.cli.exits import user_mistakes
from switchpoint.cli.inputs import warn
from switchpoint.cli.options import Json, Last, Store


def command(
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="Write this file.")
    ],
    selection: Annotated[
        str,
        typer.Argument(
            metavar="[SELECTION]",
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
    as_json: Json = False,
) -> None:
    """Write one file with curves, facts and findings, which another site can import."""
    with user_mistakes():
        from switchpoint.comparison.bundle import bundle
        from switchpoint.reporting.terminal.progress import progress

        with progress("bundling"):
            made = bundle(selection, output, store, last=last, replace_names=replace_names)
        warn(made["warnings"])
        if as_json:
            from switchpoint.reporting.json import print_json

            print_json(made)
        else:
            from switchpoint.printable import printable
            from switchpoint.reporting.terminal.words import counted

            size_kb = made["size_bytes"] / 1000
            contents = f"{counted(made['runs'], 'run')}, {counted(made['findings'], 'finding')}"
            print(printable(f"{made['file']}: {contents}, {size_kb:,.0f} kB"))
            print(f"SHA-256 {made['sha256']}")
