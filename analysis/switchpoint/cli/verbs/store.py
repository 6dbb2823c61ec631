"""`switchpoint store ls | show | verify | compact | prune`."""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from switchpoint.cli.exits import FAILED, say, user_mistakes
from switchpoint.cli.exits import show as show_line
from switchpoint.cli.inputs import warn
from switchpoint.cli.options import Json, Since, Store, Until

if TYPE_CHECKING:
    from switchpoint.store.compaction import Upkeep

app = typer.Typer(no_args_is_help=True, help="Show and maintain the store.")


@app.command("ls")
def ls(
    store: Store = "results", since: Since = None, until: Until = None, as_json: Json = False
) -> None:
    """Count the runs of each month and site, with their sessions and bytes."""
    with user_mistakes():
        from switchpoint.reporting.terminal.store import print_contents
        from switchpoint.store.contents import contents
        from switchpoint.store.store import Store

        table, damaged = contents(Store(store), since=since, until=until)
        warn(damaged, verbose=True)
        if as_json:
            from switchpoint.reporting.json import print_json

            print_json({"months": table.to_dict("records")})
        else:
            print_contents(table)


@app.command("show")
def show(
    run: Annotated[str, typer.Argument(metavar="RUN", help="The first digits of a run ID.")],
    store: Store = "results",
    as_json: Json = False,
) -> None:
    """Print what the store knows of RUN."""
    with user_mistakes():
        from switchpoint.store.contents import one_run
        from switchpoint.store.store import Store

        found = one_run(Store(store), run)
        if as_json:
            from switchpoint.reporting.json import print_json

            print_json(found)
        else:
            width = max(map(len, found))
            for name, value in found.items():
                show_line(f"{name:{width}}  {'-' if value is None else value}")


@app.command("verify")
def verify(store: Store = "results") -> None:
    """Read every file completely. Exit with 1 if one is damaged or missing."""
    with user_mistakes():
        from switchpoint.store.store import Store
        from switchpoint.store.verification import unfinished, verify

        opened = Store(store)
        wrong = verify(opened)
        for line in [*wrong, *unfinished(opened)]:
            say(line)
        if wrong:
            raise typer.Exit(FAILED)
        show_line(f"{store} is sound")


@app.command("compact")
def compact(store: Store = "results") -> None:
    """Join the small files of each month and site, and remove what killed writers left."""
    with user_mistakes():
        from switchpoint.store.compaction import compact
        from switchpoint.store.store import Store

        done = compact(Store(store))
        warn(done.left_out, verbose=True)
        print(_words(done, "joined"))


@app.command("prune")
def prune(
    older_than: Annotated[
        int,
        typer.Option(
            "--older-than", metavar="DAYS", min=1, max=100_000, help="Keep younger samples."
        ),
    ] = 90,
    store: Store = "results",
) -> None:
    """Remove old samples. Curves, parameters, findings, runs and their facts stay."""
    with user_mistakes():
        from switchpoint.store.store import Store
        from switchpoint.store.upkeep import prune

        done = prune(Store(store), date.today() - timedelta(days=older_than))
        warn(done.left_out, verbose=True)
        print(_words(done, f"without samples older than {older_than} days"))


def _words(done: Upkeep, what: str) -> str:
    runs = f" ({done.runs:,} runs)" if done.runs else ""
    return f"{done.batches:,} batches {what}{runs}, {done.files:,} files removed"
