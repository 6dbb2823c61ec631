"""`switchpoint tools`."""

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
    """Compare the echo round trips of MPI, TCP sockets and PVM (study 004)."""
    measurements = load(files, store, since=since, until=until)
    from switchpoint.comparison.tools import tools
    from switchpoint.reporting.json import tools_as_json
    from switchpoint.reporting.terminal.tools import print_tools

    table = tools(measurements)
    return Result(
        lambda: print_tools(table),
        lambda: tools_as_json(table),
        warnings=fresh_warnings(measurements, files),
    )
