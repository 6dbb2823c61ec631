"""`switchpoint ladder`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from switchpoint.cli.inputs import warn
from switchpoint.cli.options import Last, Selections, Store
from switchpoint.cli.result import Result, verb


@verb
def command(
    selections: Selections = None,
    store: Store = "results",
    last: Last = 1,
    mode: Annotated[
        str, typer.Option("--mode", metavar="NAME", help="Whose protocols: send, ssend, ...")
    ] = "send",
    svg: Annotated[
        Path | None,
        typer.Option("--svg", metavar="FILE", help="Also draw the ladders into this file."),
    ] = None,
) -> Result:
    """Print by which protocol each size is sent, at each site, MPI and placement."""
    from switchpoint.comparison.ladder import ladder_of_sides
    from switchpoint.comparison.sides import select_all
    from switchpoint.reporting.figures.ladder import write_ladders
    from switchpoint.reporting.json import ladder_as_json
    from switchpoint.reporting.terminal.ladder import print_ladders
    from switchpoint.reporting.terminal.progress import progress

    with progress("reading"):
        sides = select_all(selections or [], store, last)
    warn([warning for side in sides for warning in side.warnings])
    with progress("detecting", sum(len(s.measurements.curves) for s in sides)) as advance:
        rungs = ladder_of_sides(sides, mode, advance)
    if svg is not None:
        write_ladders(rungs, svg)
    return Result(lambda: print_ladders(rungs), lambda: ladder_as_json(rungs))
