"""Reads the input of a verb from files or from the store, and prints problems on stderr."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from switchpoint.cli.exits import BAD, say
from switchpoint.data_warnings import DataWarning
from switchpoint.errors import InputError

if TYPE_CHECKING:
    from switchpoint.store.store import Store
    from switchpoint.tables.measurements import Measurements

#: Sessions of a curve that count for claims: more hardly change a verdict, and need memory.
_SESSIONS = 100


def load(
    files: list[Path] | None,
    store: str,
    *,
    sessions: int = 1,
    since: str | None = None,
    until: str | None = None,
    verbose: bool = False,
) -> Measurements:
    """Return the measurements of the given files, or the newest sessions of the store."""
    if files:
        _check_without_time(since, until)
        return read(files, verbose=verbose)
    from switchpoint.reporting.terminal.progress import progress
    from switchpoint.store.store import Store

    with progress(f"reading {store}"):
        return Store(store).latest(sessions, since=since, until=until)


def load_all(
    files: list[Path] | None, store: str, *, since: str | None = None, until: str | None = None
) -> Measurements:
    """Return all runs of the store, or the given files, for results that need repeated launches."""
    if files:
        _check_without_time(since, until)
        return read(files)
    from switchpoint.reporting.terminal.progress import progress
    from switchpoint.store.store import Store

    with progress(f"reading {store}"):
        return Store(store).read(since=since, until=until)


def newest_records(
    store: str, *, since: str | None = None, until: str | None = None
) -> Measurements:
    """Return what claims are tested with: of a store only run records, which prove their ranks.

    A store may contain a million runs. Of those of a curve the newest are enough, and only these
    are in memory.
    """
    from switchpoint.reporting.terminal.progress import status
    from switchpoint.store.store import Store
    from switchpoint.tables.measurements import Measurements, no_samples

    opened = Store(store)
    all_runs = opened.count(format="record", since=since, until=until)
    if not all_runs and not opened.runs(since=since, until=until).empty:
        return Measurements(no_samples())
    reading = f"reading the newest {_SESSIONS} sessions of each curve"
    with status(reading) if all_runs else contextlib.nullcontext():
        found = opened.latest(_SESSIONS, format="record", since=since, until=until)
    older = all_runs - len(found.runs)
    if older > 0:
        what = (
            f"of each curve the newest {_SESSIONS} sessions count: {older:,} older runs are"
            " left out; --since and --until choose others"
        )
        warn([DataWarning("older_runs", what)])
    return found


def load_from(place: str) -> tuple[Measurements, list[DataWarning]]:
    """Return all runs of a store, a file or a folder, and the warnings to print."""
    path = Path(place)
    is_store = "://" in place or (path / "runs").is_dir()
    files = None if is_store else [path]
    measurements = load_all(files, place)
    return measurements, fresh_warnings(measurements, files)


def store_of(files: list[Path] | None, store: str) -> Store | None:
    """Return the store that was read, or None if files were."""
    if files:
        return None
    from switchpoint.store.store import Store

    return Store(store)


def _check_without_time(since: str | None, until: str | None) -> None:
    """Raise InputError if a time is given, which selects runs of the store."""
    for name, given in (("--since", since), ("--until", until)):
        if given is not None:
            raise InputError(name, "selects runs of the store; do not give FILEs with it")


def read(files: list[Path], *, verbose: bool = False) -> Measurements:
    """Read all readable files and name the others on stderr. Exit with 2 if none is readable."""
    from switchpoint.importing.files import find_files
    from switchpoint.importing.reading import read_found
    from switchpoint.reporting.terminal.progress import progress
    from switchpoint.tables.unlike import tell_apart

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
            f"contains no curve, only {values} single value{'' if values == 1 else 's'};"
            " store them with `switchpoint import`",
        )
    return tell_apart(measurements)


def fresh_warnings(measurements: Measurements, files: list[Path] | None) -> list[DataWarning]:
    """Return the warnings to print: `import` printed those of runs in the store, once."""
    return measurements.warnings if files else measurements.not_taken


def list_failures(
    failures: list[InputError], files: list[Path], found: int, *, verbose: bool = False
) -> None:
    """Print on stderr which files could not be read, or that there are none."""
    from switchpoint.reporting.terminal.imports import failure_lines

    for line in failure_lines(failures, given=files, verbose=verbose):
        say(line)
    if not found:
        say(f"{files[0]}: contains no file; measure first")


def warn(warnings: Iterable[DataWarning], *, verbose: bool = False) -> None:
    """Print warnings on stderr, with one line for all that say the same."""
    from switchpoint.reporting.terminal.imports import warning_lines

    for warning in warning_lines(warnings, verbose=verbose):
        say(f"warning: {warning}")
