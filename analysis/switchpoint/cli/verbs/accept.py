"""`switchpoint accept`."""

from __future__ import annotations

from typing import Annotated

import typer

from switchpoint.cli.options import Store
from switchpoint.cli.result import Result, verb


@verb
def command(
    findings: Annotated[
        list[str],
        typer.Argument(
            metavar="FINDING...",
            help="The first digits of a finding's ID, or a kind, such as missing_value: all that"
            " fail in the session compared last.",
        ),
    ],
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why.")],
    until: Annotated[
        str | None,
        typer.Option(
            "--until",
            metavar="DATE",
            help="The last day on which it is accepted, such as 2026-12-31. Default: for ever, and"
            " later sessions are compared with the new values.",
            show_default=False,
        ),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option("--by", metavar="NAME", help="Who. Default: the user.", show_default=False),
    ] = None,
    store: Store = "results",
) -> Result:
    """Accept findings of the gate, so that they fail no more. The reason stays in the store."""
    from switchpoint.cli.exits import show
    from switchpoint.gating.accepted import accept_all, words_of
    from switchpoint.reporting.json import acceptance_as_json

    rows = accept_all(store, findings, reason, by=by, until=until)

    def to_json() -> object:
        accepted = [acceptance_as_json(row) for row in rows]
        return accepted[0] if len(accepted) == 1 else accepted

    return Result(lambda: show(*map(words_of, rows)), to_json)
