"""`switchpoint algorithms`."""

from __future__ import annotations

from switchpoint.cli.inputs import fresh_warnings, load
from switchpoint.cli.options import Files, Since, Store, Until
from switchpoint.cli.result import Result, verb


@verb
def command(
    files: Files = None,
    store: Store = "results",
    since: Since = None,
    until: Until = None,
) -> Result:
    """Print which algorithm each collective uses at each size, and where another is faster."""
    measurements = load(files, store, since=since, until=until)
    from switchpoint.comparison.algorithms import algorithms
    from switchpoint.reporting.json import algorithms_as_json
    from switchpoint.reporting.terminal.algorithms import print_algorithms

    table = algorithms(measurements)
    return Result(
        lambda: print_algorithms(table),
        lambda: algorithms_as_json(table),
        warnings=fresh_warnings(measurements, files),
    )
