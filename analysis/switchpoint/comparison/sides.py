"""Reads the measurements of each side of a comparison, from a store or from files."""

from __future__ import annotations

import dataclasses
import os
import string
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pandas as pd

from switchpoint.comparison.selections import TIMES, Selection
from switchpoint.data_warnings import DataWarning, warning_of_error
from switchpoint.errors import InputError
from switchpoint.explanation.zooms import TIMED_KERNEL
from switchpoint.importing.files import find_files
from switchpoint.importing.reading import read_found
from switchpoint.store.contents import find_run
from switchpoint.store.store import Store
from switchpoint.tables.builds import tell_builds
from switchpoint.tables.columns import identity_columns
from switchpoint.tables.curves import summary_of
from switchpoint.tables.identity import IDENTITY
from switchpoint.tables.measurements import Measurements
from switchpoint.tables.mpi_names import is_mpi
from switchpoint.tables.sweeps import ZOOM
from switchpoint.tables.unlike import tell_unlike

#: Values that an error lists.
_VALUES = 8


@dataclass(frozen=True)
class Side:
    """The measurements of a selection.

    Attributes
    ----------
    letter : str
        `A` for the first side, then `B` and so on.
    selection : Selection
    measurements : Measurements
        Runs with their facts, and samples as far as they are there.
    points : DataFrame
        As from `summarise`.
    warnings : list of DataWarning
    """

    letter: str
    selection: Selection
    measurements: Measurements
    points: pd.DataFrame
    warnings: list[DataWarning]

    @property
    def runs(self) -> pd.DataFrame:
        """The runs of its curves."""
        runs = self.measurements.runs
        return runs[runs["run_id"].isin(self.points["run_id"].unique())]


def select(
    selection: Selection,
    letter: str = "A",
    store: str | os.PathLike[str] = "results",
    last: int = 1,
) -> Side:
    """Read a selection.

    Parameters
    ----------
    selection
        What to read.
    letter
        The name of the side.
    store
        The store that is read if the selection names no file.
    last
        From the store: how many of the newest sessions of each curve, unless the selection names
        runs, a session or times.

    Raises
    ------
    InputError
        If there is no such file, value or column, or no curve.
    """
    found = _of_files(selection) if selection.files else _of_store(selection, Store(store), last)
    found = tell_unlike(found)
    points = summary_of(found)
    for name in selection.wanted:
        if name in IDENTITY or name not in found.runs:
            points = _only(selection, points, name)
    points = points.reset_index(drop=True)
    if points.empty and not found.runs["kernel"].eq(ZOOM).any():
        values = len(found.single_values)
        what = f"no curve, only {values:,} single values" if values else "no curve"
        raise InputError(selection.text, f"selects {what}; select runs with message sizes")
    # Those of runs in the store were printed when they were imported.
    warnings = found.warnings if selection.files else found.not_taken
    return Side(letter, selection, found, points, warnings)


def select_all(
    texts: Sequence[str], store: str | os.PathLike[str] = "results", last: int = 1
) -> list[Side]:
    """Read selections, named `A`, `B` and so on; without any, the whole store.

    Raises
    ------
    InputError
        As from `select`, or if there are more than letters.
    """
    if len(texts) > len(string.ascii_uppercase):
        raise InputError(texts[-1], f"is selection {len(texts)}; give at most 26")
    chosen = [Selection.parse(text) for text in texts] or [Selection.everything()]
    return [
        select(selection, letter, store, last)
        for selection, letter in zip(chosen, string.ascii_uppercase, strict=False)
    ]


def _of_files(selection: Selection) -> Measurements:
    files = find_files(selection.files)
    gathered = read_found(files.found)
    failures = files.failures + gathered.failures
    if gathered.measurements is None:
        if failures:
            raise failures[0]
        raise InputError(selection.files[0], "contains no file; measure first")
    found = gathered.measurements
    runs = _wanted_runs(selection, found.runs, str(selection.files[0]))
    chosen = tell_builds(_restricted(found, runs))
    unread = [warning_of_error("unread_file", failure) for failure in failures]
    return dataclasses.replace(chosen, not_taken=[*chosen.not_taken, *unread])


def _of_store(selection: Selection, store: Store, last: int) -> Measurements:
    """Read runs of a store with the points of their curves, which outlive the samples."""
    wanted = dict(selection.wanted)
    if "run_id" in wanted:
        wanted["run_id"] = find_run(store, wanted["run_id"])
    exact = dataclasses.replace(selection, wanted=wanted)
    runs = store.runs(since=selection.since or None, until=selection.until or None)
    runs = _wanted_runs(exact, runs, store.url)
    same = {name: runs[name].iloc[0] for name in wanted if name in runs and _one(runs[name])}
    span = {"since": selection.since or None, "until": selection.until or None}
    sessions = None if selection.names_launches else last
    return _restricted(store.summaries(sessions, **same, **span), runs)


def _one(values: pd.Series[str]) -> bool:
    return bool(values.notna().all()) and len(set(values)) == 1


def _restricted(found: Measurements, runs: pd.DataFrame) -> Measurements:
    ids = runs["run_id"]
    if found.runs["run_id"].isin(ids).all():
        return found
    return dataclasses.replace(
        found,
        runs=found.runs[found.runs["run_id"].isin(ids)].reset_index(drop=True),
        samples=found.samples[found.samples["run_id"].isin(ids)].reset_index(drop=True),
        points=found.points[found.points["run_id"].isin(ids)].reset_index(drop=True),
    )


def _wanted_runs(selection: Selection, runs: pd.DataFrame, source: str) -> pd.DataFrame:
    """Return the runs with the wanted values, at the wanted time.

    A run without a value may have curves that differ in it.
    """
    for name, value in selection.wanted.items():
        if name in runs:
            unknown = runs[name].isna() & (name in IDENTITY)
            if not unknown.all():
                values = _matching(selection, name, value, runs[name], source)
                # Zooms locate the switches of the kernel that they time.
                zooms = runs["kernel"].eq(ZOOM) & (name == "kernel" and TIMED_KERNEL in values)
                runs = runs[runs[name].isin(values) | unknown | zooms]
    if selection.since:
        runs = runs[runs["start_utc"] >= selection.since]
    if selection.until:
        runs = runs[runs["start_utc"] < selection.until]
    if runs.empty:
        raise InputError(selection.text, f"selects no run of {source} at that time")
    return runs


def _only(selection: Selection, points: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return the curves with the wanted value of a column."""
    if name not in points:
        known = ", ".join([*identity_columns(points), "session", *TIMES]).replace("run_id", "run")
        raise InputError(selection.text, f"no curve has '{name}'; use one of {known}")
    values = _matching(selection, name, selection.wanted[name], points[name], "its curves")
    return points[points[name].isin(values)]


def _matching(
    selection: Selection, name: str, wanted: str, values: pd.Series[str], source: str
) -> list[str]:
    """Return the values of a column that a user means; raises InputError if there is none."""
    known = sorted({value for value in values.dropna().unique() if isinstance(value, str)})
    found = [value for value in known if value == wanted]
    if not found and name == "mpi":
        found = [value for value in known if is_mpi(value, wanted)]
    if not found and name == "run_id":
        found = [value for value in known if value.startswith(wanted)]
    if not found:
        shown = "run" if name == "run_id" else name
        raise InputError(
            selection.text, f"there is no {shown} '{wanted}' in {source}; there is {_listed(known)}"
        )
    return found


def _listed(known: Iterable[str]) -> str:
    words = list(known)
    more = f" and {len(words) - _VALUES} more" if len(words) > _VALUES else ""
    return (", ".join(words[:_VALUES]) or "none") + more
