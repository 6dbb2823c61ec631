"""`switchpoint reach`."""

from __future__ import annotations

from typing import Annotated

import typer

from switchpoint.cli.exits import user_mistakes
from switchpoint.cli.inputs import warn
from switchpoint.cli.options import Json, Last, Selections, Store
from switchpoint.errors import InputError


def command(
    selections: Selections = None,
    store: Store = "results",
    last: Last = 1,
    switches: Annotated[
        bool, typer.Option("--switches", help="Also find the sizes at which the time jumps.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Print latency, peak, n1/2 and message rate of each site, and the share of its link."""
    with user_mistakes():
        from switchpoint.comparison.ladder import ladder
        from switchpoint.comparison.reach import reach_of_sides
        from switchpoint.comparison.sides import select_all
        from switchpoint.reporting.terminal.progress import progress

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
                "contains no round trips and no streams; `pingpong`, OSU, IMB and NetPIPE measure"
                " them",
            )
        if as_json:
            from switchpoint.reporting.json import print_json, reach_as_json

            print_json(reach_as_json(table))
        else:
            from switchpoint.reporting.terminal.reach import print_reach

            print_reach(table)
