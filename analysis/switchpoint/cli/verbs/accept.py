"""`switchpoint accept`."""

from __future__ import annotations

from typing import Annotated

import typer

from switchpoint.cli.exits import user_mistakes
from switchpoint.cli.options import Json, Store


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
    as_json: Json = False,
) -> None:
    """Accept findings of the gate, so that they fail no more. The reason stays in the store."""
    with user_mistakes():
        from switchpoint.gating.accepted import accept_all, words_of
        from switchpoint.printable import printable

        rows = accept_all(store, findings, reason, by=by, until=until)
        if as_json:
            from switchpoint.reporting.json import acceptance_as_json, print_json

            told = [acceptance_as_json(row) for row in rows]
            print_json(told[0] if len(told) == 1 else told)
        else:
            for row in rows:
                print(printable(words_of(row)))
