"""`switchpoint tools`."""

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
    """Compare the echo round trips of MPI, TCP sockets and PVM (study 004)."""
    with user_mistakes():
        measurements = load(files, store, since=since, until=until)
        from switchpoint.comparison.tools import tools

        table = tools(measurements)
        warn(fresh_warnings(measurements, files))
        if as_json:
            from switchpoint.reporting.json import print_json, tools_as_json

            print_json(tools_as_json(table))
        else:
            from switchpoint.reporting.terminal.tools import print_tools

            print_tools(table)
