"""`switchpoint checks`."""

from __future__ import annotations

from switchpoint.cli.result import Result, verb_without_json


@verb_without_json
def command() -> Result:
    """Print the folder of the ReFrame checks, for `reframe -c "$(switchpoint checks)"`."""
    from switchpoint.shipped import shipped

    return Result(lambda: print(shipped("checks")))
