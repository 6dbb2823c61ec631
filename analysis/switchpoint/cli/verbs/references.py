"""`switchpoint references`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from switchpoint.cli.exits import user_mistakes
from switchpoint.cli.inputs import warn
from switchpoint.cli.options import Json, Store


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
    as_json: Json = False,
) -> None:
    """Print references for ReFrame, with thresholds that the noise of the history justifies."""
    with user_mistakes():
        from switchpoint.history.policy import Policy, load_policy
        from switchpoint.history.references import as_yaml, references

        found, left_out = references(
            store, site=site, policy=load_policy(policy) if policy else Policy(), last=last
        )
        warn(left_out, verbose=True)
        if as_json:
            from switchpoint.reporting.json import print_json

            print_json(found)
        else:
            print(as_yaml(found), end="")
