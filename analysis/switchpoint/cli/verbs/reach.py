"""`switchpoint reach`."""

from __future__ import annotations

from typing import Annotated

import typer

from switchpoint.cli.inputs import warn
from switchpoint.cli.options import Last, Selections, Store
from switchpoint.cli.result import Result, verb
from switchpoint.errors import InputError


@verb
def command(
    selections: Selections = None,
    store: Store = "results",
    last: Last = 1,
    switches: Annotated[
        bool, typer.Option("--switches", help="Also find the sizes at which the time jumps.")
    ] = False,
) -> Result:
    """Print latency, peak, n1/2 and message rate of each site, and the share of its link."""
    from switchpoint.comparison.ladder import ladder
    from switchpoint.comparison.reach import reach_of_sides
    from switchpoint.comparison.sides import select_all
    from switchpoint.reporting.terminal.progress import progress
    from switchpoint.reporting.terminal.reach import print_reach
    from switchpoint.tables.columns import records

    with progress("reading"):
        sides = select_all(selections or [], store, last)
    warn([warning for side in sides for warning in side.warnings])
    ladders = None
    if switches:
        curves = sum(len(side.measurements.curves) for side in sides)
        with progress("detecting", curves) as advance:
            ladders = [ladder(side.measurements, progress=advance) for side in sides]
    table = reach_of_sides(sides, ladders)
    if table.empty:
        raise InputError(
            " ".join(selections or [str(store)]),
            "contains no round trips and no streams; `pingpong`, OSU, IMB and NetPIPE measure them",
        )
    return Result(lambda: print_reach(table), lambda: {"reach": records(table)})
