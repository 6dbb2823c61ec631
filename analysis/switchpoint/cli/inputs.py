"""Reads what a verb works on, from files or from the store, and tells on stderr what is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from switchpoint.cli.exits import BAD, say
from switchpoint.errors import InputError

if TYPE_CHECKING:
    from switchpoint.tables.measurements import Measurements


def load(files: list[Path] | None, store: str, *, verbose: bool = False) -> Measurements:
    """Return the measurements of the files given, or else the store's newest."""
    if files:
        return read(files, verbose=verbose)
    from switchpoint.store.store import Store

    return Store(store).latest()


def load_all(files: list[Path] | None, store: str) -> Measurements:
    """Return as `load`, but all runs of the store, for what rests on repeated launches."""
    if files:
        return read(files)
    from switchpoint.store.store import Store

    return Store(store).read()


def read(files: list[Path], *, verbose: bool = False) -> Measurements:
    """Read what can be read and name each file that cannot, on stderr; exit 2 if none can."""
    from switchpoint.importing.files import find_files
    from switchpoint.importing.reading import read_found
    from switchpoint.reporting.terminal.progress import progress
    from switchpoint.tables.builds import tell_builds

    found = find_files(files)
    with progress("reading", len(found.found)) as advance:
        gathered = read_found(found.found, advance)
    list_failures([*found.failures, *gathered.failures], files, found.count, verbose=verbose)
    measurements = gathered.measurements
    if measurements is None:
        raise typer.Exit(BAD)
    values = len(measurements.single_values)
    if measurements.samples.empty and values:
        raise InputError(
            files[0],
            f"holds no curve but {values} single value{'' if values == 1 else 's'};"
            " keep them with `switchpoint import`",
        )
    return tell_builds(measurements)


def list_failures(
    failures: list[InputError], files: list[Path], found: int, *, verbose: bool = False
) -> None:
    """Say on stderr which of the files found could not be read, or that there are none."""
    from switchpoint.reporting.terminal.imports import failure_lines

    for line in failure_lines(failures, given=files, verbose=verbose):
        say(line)
    if not found:
        say(f"{files[0]}: holds no file; measure first")


def warn(warnings: list[str], *, verbose: bool = False) -> None:
    """Say warnings on stderr, those of one kind in one line."""
    from switchpoint.reporting.terminal.imports import warning_lines

    for warning in warning_lines(warnings, verbose=verbose):
        say(f"warning: {warning}")
