"""`switchpoint import`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from switchpoint.cli.exits import BAD, show
from switchpoint.cli.inputs import list_failures
from switchpoint.cli.options import Scheduler, Store
from switchpoint.cli.result import Result, verb


@verb
def command(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="Files and folders to import.",
            readable=False,  # a file that may not be read costs only itself
            show_default=False,
        ),
    ],
    store: Store = "results",
    paths: Annotated[
        list[str] | None,
        typer.Option(
            "--path",
            metavar="PATTERN",
            help="Take names from the path of a file below the given folder, such as"
            " '{site}/{environ}/{test}'. Repeat the option for other layouts.",
            show_default=False,
        ),
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--column",
            metavar="OURS=THEIRS",
            help="Say what a column of CSV files is, such as size_bytes=N or time_ms=elapsed."
            " Repeat the option for other columns.",
            show_default=False,
        ),
    ] = None,
    statistic: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Which statistic is the curve if a table has several: avg, min, max, median, p99.",
            show_default="avg",
        ),
    ] = None,
    dates: Annotated[
        bool,
        typer.Option(
            "--dates",
            help="Date runs by the '# Date' line of their file, or else by the file's last change.",
        ),
    ] = False,
    suggest: Annotated[
        bool,
        typer.Option(
            "--suggest", help="Propose --path patterns for the folders, and import nothing."
        ),
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="List every skipped file and every warning.")
    ] = False,
    scheduler: Scheduler = None,
) -> Result:
    """Store FILEs, and files in folders. Their content decides the format. A run counts once."""
    if suggest:
        return _suggested(files)
    from switchpoint.importing.choices import Choices, parse_columns, parse_statistic
    from switchpoint.importing.files import find_files
    from switchpoint.importing.layout import PathPattern
    from switchpoint.reporting.json import import_as_json
    from switchpoint.reporting.terminal.imports import import_lines
    from switchpoint.reporting.terminal.progress import progress
    from switchpoint.store.importing import import_found
    from switchpoint.store.store import Store

    patterns = [PathPattern.parse(text) for text in paths or []]
    kept = Store(store)
    choices = Choices(parse_columns(columns or []), parse_statistic(statistic), dates)
    found = find_files(files, patterns, kept.own, choices)
    with progress("importing", len(found.found)) as advance:
        outcome = import_found(found, kept, advance)
    list_failures(outcome.failures, files, found.count, verbose=verbose)
    if outcome.nothing:
        raise typer.Exit(BAD)
    return Result(
        lambda: show(*import_lines(outcome, store)),
        lambda: import_as_json(outcome),
        warnings=outcome.warnings,
        verbose=verbose,
    )


def _suggested(folders: list[Path]) -> Result:
    """Propose patterns."""
    from switchpoint.importing.suggestions import suggest
    from switchpoint.reporting.terminal.imports import suggestion_lines

    suggestions = suggest(folders)
    return Result(lambda: show(*suggestion_lines(suggestions, folders)))
