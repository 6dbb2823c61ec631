"""`switchpoint algorithms`."""

from __future__ import annotations

from switchpoint.cli.exits import user_mistakes
from switchpoint.cli.inputs import fresh_warnings, load, warn
from switchpoint.cli.options import Files, Json, Since, Store, Until


def command(
    files: Files = None,
    store: Store = "results",
    since: Since = None,
    until: Until = None,
    as_json: Json = False,
) -> None:
    """Print which algorithm each collective uses at each size, and where another is faster."""
    with user_mistakes():
        measurements = load(files, store, since=since, until=until)
        from switchpoint.comparison.algorithms import algorithms

        table = algorithms(measurements)
        warn(fresh_warnings(measurements, files))
        if as_json:
            from switchpoint.reporting.json import algorithms_as_json, print_json

            print_json(algorithms_as_json(table))
        else:
            from switchpoint.reporting.terminal.algorithms import print_algorithms

            print_algorithms(table)
