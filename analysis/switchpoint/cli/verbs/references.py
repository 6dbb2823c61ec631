"""`switchpoint references`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from switchpoint.cli.exits import say
from switchpoint.cli.options import Store
from switchpoint.cli.result import Result, verb


@verb
def command(
    store: Store = "results",
    site: Annotated[
        str | None,
        typer.Option("--site", metavar="SITE", help="Only this system.", show_default=False),
    ] = None,
    last: Annotated[
        int,
        typer.Option("--last", metavar="N", min=1, help="Use the newest N values of each series."),
    ] = 90,
    policy: Annotated[
        Path | None,
        typer.Option("--policy", metavar="FILE", help="A site's gate.yaml.", show_default=False),
    ] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Name every series without a reference.")
    ] = False,
) -> Result:
    """Print references for ReFrame, with thresholds that the noise of the history justifies."""
    from switchpoint.gating.policy import Policy, load_policy
    from switchpoint.gating.references import as_yaml, references
    from switchpoint.reporting.terminal.imports import warning_lines

    found, left_out = references(
        store, site=site, policy=load_policy(policy) if policy else Policy(), last=last
    )
    if not found:
        reasons = "; ".join(warning_lines(left_out, verbose=verbose))
        say(f"no series has a reference yet: {reasons}")
    return Result(
        lambda: print(as_yaml(found), end=""),
        lambda: found,
        warnings=left_out if found else [],
        verbose=verbose,
    )
