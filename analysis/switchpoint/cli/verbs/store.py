"""`switchpoint store ls | show | verify | compact | prune`."""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from switchpoint.cli.exits import say
from switchpoint.cli.exits import show as show_line
from switchpoint.cli.options import Since, Store, Until
from switchpoint.cli.result import Result, verb, verb_without_json

if TYPE_CHECKING:
    from switchpoint.store.compaction import Upkeep

app = typer.Typer(no_args_is_help=True, help="Show and maintain the store.")


@app.command("ls")
@verb
def ls(store: Store = "results", since: Since = None, until: Until = None) -> Result:
    """Count the runs of each month and site, with their sessions and bytes."""
    from switchpoint.reporting.terminal.store import print_contents
    from switchpoint.store.contents import contents
    from switchpoint.store.store import Store

    table, damaged = contents(Store(store), since=since, until=until)
    return Result(
        lambda: print_contents(table),
        lambda: {"months": table.to_dict("records")},
        warnings=damaged,
        verbose=True,
    )


@app.command("show")
@verb
def show(
    run: Annotated[str, typer.Argument(metavar="RUN", help="The first digits of a run ID.")],
    store: Store = "results",
) -> Result:
    """Print what the store knows of RUN."""
    from switchpoint.reporting.terminal.store import print_run
    from switchpoint.store.contents import one_run
    from switchpoint.store.store import Store

    row = one_run(Store(store), run)
    kinds = row.pop("warning_kinds")
    return Result(lambda: print_run(row), lambda: row | {"warning_kinds": kinds})


@app.command("verify")
@verb_without_json
def verify(store: Store = "results") -> Result:
    """Read every file completely. Exit with 1 if one is damaged or missing."""
    from switchpoint.store.store import Store
    from switchpoint.store.verification import unfinished, verify

    opened = Store(store)
    wrong = verify(opened)
    for line in [*wrong, *unfinished(opened)]:
        say(line)
    return Result(
        lambda: None if wrong else show_line(f"{store} is sound"), failed=lambda: bool(wrong)
    )


@app.command("compact")
@verb_without_json
def compact(store: Store = "results") -> Result:
    """Join the small files of each month and site, and remove what killed writers left."""
    from switchpoint.store.compaction import compact
    from switchpoint.store.store import Store

    return _changed(compact(Store(store)), "joined")


@app.command("prune")
@verb_without_json
def prune(
    older_than: Annotated[
        int,
        typer.Option(
            "--older-than", metavar="DAYS", min=1, max=100_000, help="Keep younger samples."
        ),
    ] = 90,
    store: Store = "results",
) -> Result:
    """Remove old samples. Curves, parameters, findings, runs and their facts stay."""
    from switchpoint.store.store import Store
    from switchpoint.store.upkeep import prune

    done = prune(Store(store), date.today() - timedelta(days=older_than))
    return _changed(done, f"without samples older than {older_than} days")


def _changed(done: Upkeep, what: str) -> Result:
    runs = f" ({done.runs:,} runs)" if done.runs else ""
    words = f"{done.batches:,} batches {what}{runs}, {done.files:,} files removed"
    return Result(lambda: print(words), warnings=done.left_out, verbose=True)
