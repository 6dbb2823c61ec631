"""The store: Parquet files of samples, curves, runs and single values, on any fsspec URL.

Writers only add files and never change those of others, so nothing is lost; see `batches`.
"""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import Any

import pandas as pd

from switchpoint.data_warnings import DataWarning
from switchpoint.errors import InputError
from switchpoint.importing.files import STORE_MARK
from switchpoint.store.batches import TABLES, Encoded, batch_files, write
from switchpoint.store.files import StoreFiles
from switchpoint.store.ledger import ledgers
from switchpoint.store.lost_runs import WithoutRuns, batches_without_runs
from switchpoint.store.mark import check_mark, set_mark
from switchpoint.store.needed import needed
from switchpoint.store.not_taken import noted
from switchpoint.store.steady import steady
from switchpoint.store.stored_runs import StoredRuns, brief_runs
from switchpoint.store.tables import SLIM, unpacked, unpacked_points
from switchpoint.store.values import keep_values, read_values
from switchpoint.store.wanted import Query, Wanted, divided
from switchpoint.tables.builds import tell_builds
from switchpoint.tables.columns import CURVE_COLUMNS, MEASURES
from switchpoint.tables.measurements import Measurements, concat, no_samples
from switchpoint.tables.unlike import tell_unlike
from switchpoint.tables.validity import problem_of


class Store:
    """Measurements in one folder or URL.

    Every query takes columns and the value that each must have, such as ``kernel="pingpong"``, or
    several values, such as ``session=["monday", "tuesday"]``, and a span of time: `since`, and
    `until`, which is not part of it. These are UTC dates (``"2026-11-20"``), times
    (``"2026-11-20T18:30"``) or Python's `date` and `datetime`. None does not restrict. What could
    not be read is in `not_taken` of measurements; of tables in `attrs["not_taken"]`, as
    dictionaries with `kind`, `message` and `place`.

    Parameters
    ----------
    url
        A folder, or any URL that fsspec supports (`s3://bucket/results`, `memory://results`).
    """

    def __init__(self, url: str | os.PathLike[str] = "results") -> None:
        self.url = os.fspath(url)
        self.files = StoreFiles(self.url)
        self.ledgers = ledgers(self.files)

    @property
    def own(self) -> list[Path]:
        """Its local folders and files, which are not to be imported; none if it is not local."""
        if not self.files.local:
            return []
        names = (*TABLES, *self.ledgers, "values", STORE_MARK)
        return [Path(self.files.root, name) for name in names]

    def add(self, measurements: Measurements) -> int:
        """Store every run that is new, replaces a truncated run, or restores removed files.

        Parameters
        ----------
        measurements
            What to store.

        Returns
        -------
        int
            How many runs were written. Single values are stored too.

        Raises
        ------
        InputError
            If a value cannot be right, or the store cannot be written. Then nothing is stored.
        """
        if problem := problem_of(measurements):
            raise InputError(self.url, f"these measurements cannot be stored: {problem}")
        self.keep_values(measurements.single_values)
        return len(self.keep(Encoded.of(measurements))[0])

    def keep(self, encoded: Encoded) -> tuple[list[str], list[DataWarning]]:
        """Write those runs that `add` would write, as one batch.

        Return their IDs, and which files of the store could not be read.
        """
        new, not_taken = self._needed(encoded)
        if new:
            set_mark(self.files)
            write(self.files, encoded if len(new) == len(encoded.runs()) else encoded.only(new))
        return new, not_taken

    @steady
    def keep_values(self, values: pd.DataFrame) -> pd.DataFrame:
        """Store new single values (`VALUE_COLUMNS`), and return those.

        Their `attrs["not_taken"]` lists which files of the store could not be read.
        """
        return keep_values(self.files, values)

    @steady
    def keep_parameters(self, parameters: pd.DataFrame) -> int:
        """Store new rows of curves' parameters, and return their number.

        Parameters
        ----------
        parameters
            `run_id`, the other identity columns, and any columns of text, numbers and truth
            values. `start_utc` and `session` of the runs are added if they are missing.
        """
        return self.ledgers["parameters"].keep(self._dated(parameters))

    @steady
    def keep_findings(self, findings: pd.DataFrame) -> int:
        """Store new rows of findings, and return their number.

        Parameters
        ----------
        findings
            Any columns of text, numbers and truth values. `time_utc` is the time of now if it is
            missing.
        """
        return self.ledgers["findings"].keep(findings)

    @steady
    def keep_verdicts(self, verdicts: pd.DataFrame) -> int:
        """Store new rows of what gates said of sessions, as `keep_findings`."""
        return self.ledgers["verdicts"].keep(verdicts)

    @steady
    def single_values(self, **wanted: Query) -> pd.DataFrame:
        """Read the single values (`VALUE_COLUMNS`), oldest first."""
        return read_values(self.files, **wanted)

    @steady
    def parameters(self, columns: list[str] | None = None, **wanted: Query) -> pd.DataFrame:
        """Read the stored parameters of curves, in the order of `start_utc`; texts as categories.

        It has these columns, or those of all stored rows. They are kept longer than the samples.
        """
        return self.ledgers["parameters"].read(wanted, columns)

    @steady
    def findings(self, **wanted: Query) -> pd.DataFrame:
        """Read the stored findings, in the order of `time_utc`, with the columns of all rows."""
        return self.ledgers["findings"].read(wanted)

    @steady
    def verdicts(self, **wanted: Query) -> pd.DataFrame:
        """Read what gates said of sessions, in the order of `time_utc`."""
        return self.ledgers["verdicts"].read(wanted)

    def runs(self, **wanted: Query) -> pd.DataFrame:
        """Read the runs table, oldest first: `RUN_COLUMNS` without the large ones."""
        stored, damaged = self.stored(**wanted)
        return noted(stored.runs[SLIM], damaged)

    @steady
    def run_ids(self) -> pd.Series[str]:
        """Read the IDs of all runs."""
        self.files_of_runs()
        runs, _ = brief_runs(self.files, ["run_id"])
        return runs["run_id"].drop_duplicates().sort_values(ignore_index=True)

    @steady
    def count(self, **query: Query) -> int:
        """Count runs without reading more of them than the query needs; it is as for `runs`."""
        self.files_of_runs()
        wanted = Wanted.of(query)
        names = dict.fromkeys(["run_id", wanted.time, *wanted.equal])
        runs, _ = brief_runs(self.files, [*names])
        return int(wanted.rows(runs.astype({wanted.time: "str"}))["run_id"].nunique())

    @steady
    def files_imported(self) -> pd.DataFrame:
        """Read which file each run was imported from: `run_id`, `format`, `source`, `labels`."""
        runs, _ = brief_runs(self.files, ["run_id", "format", "source", "labels"])
        return runs.drop_duplicates("run_id", keep="last")

    @steady
    def facts(self, **wanted: Query) -> pd.DataFrame:
        """Read the complete runs, oldest first: `RUN_COLUMNS` with header, footer and lock."""
        stored, damaged = self.stored(**wanted)
        runs, lost = stored.complete(stored.runs)
        return noted(runs, [*damaged, *lost])

    @steady
    def read(self, **wanted: Query) -> Measurements:
        """Read measurements. Runs with the same names that are no launches of a curve are numbered.

        Values of `mode` select samples, all others select runs. Parquet applies both filters.
        """
        of_runs, of_rows = divided(wanted)
        stored, damaged = self.stored(**of_runs)
        return tell_unlike(self._measurements(stored.runs, damaged, of_rows, stored))

    @steady
    def latest(self, sessions: int = 1, **wanted: Query) -> Measurements:
        """Read so many of the newest sessions of every curve, and all runs without a date.

        A run without a session is one by itself. If a run repeats another run, that run is read as
        well, so that both can be compared. `wanted` is as for `read`.
        """
        of_runs, of_rows = divided(wanted)
        stored, damaged = self.stored(**of_runs)
        return tell_unlike(self._measurements(stored.newest(sessions), damaged, of_rows, stored))

    @steady
    def curves(self, columns: list[str] | None = None, **wanted: Query) -> pd.DataFrame:
        """Read the points of curves, as from `summarise`; they are kept longer than the samples.

        Besides the identity of its curve, a point has these columns, or all.
        """
        of_runs, of_rows = divided(wanted)
        stored, damaged = self.stored(**of_runs)
        shown = columns or CURVE_COLUMNS
        table, lost = stored.rows(
            "curves", stored.runs, of_rows, without={*CURVE_COLUMNS} - {*shown}
        )
        return noted(unpacked(table, shown), [*damaged, *lost])

    @steady
    def summaries(self, sessions: int | None = None, **wanted: Query) -> Measurements:
        """Read measurements with the points of curves in place of samples, which may be gone.

        Of so many of the newest sessions of every curve, as `latest`, or of all runs.
        """
        of_runs, of_rows = divided(wanted)
        stored, damaged = self.stored(**of_runs)
        runs = stored.runs if sessions is None else stored.newest(sessions)
        return self._measurements(runs, damaged, of_rows, stored, "curves")

    @steady
    def stored(self, **wanted: Query) -> tuple[StoredRuns, list[DataWarning]]:
        """Return the wanted runs with their batches, and what could not be read."""
        return StoredRuns.read(self.files, self.files_of_runs(), Wanted.of(wanted))

    @steady
    def without_runs(self) -> WithoutRuns:
        """Return what belongs to batches without a file of `runs`."""
        return batches_without_runs(self.files)

    def _measurements(
        self,
        runs: pd.DataFrame,
        damaged: list[DataWarning],
        of_rows: Any,
        stored: StoredRuns,
        table: str = "samples",
    ) -> Measurements:
        """Return runs with their rows of a table: `samples` or `curves`."""
        if runs.empty:
            empty = "contains no run that matches; `switchpoint store ls` shows what it contains"
            raise InputError(self.url, str(damaged[0]) if damaged else empty)
        whole, failed = stored.complete(runs)
        rows, lost = stored.rows(table, runs, of_rows)
        if table == "samples":
            found = Measurements(unpacked(rows, MEASURES), whole)
        else:
            found = Measurements(no_samples(), whole, points=unpacked_points(rows))
        not_taken = [*found.not_taken, *damaged, *failed, *lost]
        return tell_builds(dataclasses.replace(concat([found]), not_taken=not_taken))

    def files_of_runs(self) -> list[str]:
        """Return the files of `runs`; raises InputError if this is not a store yet."""
        check_mark(self.files)
        paths = batch_files(self.files, "runs")
        if not paths and not self.files.system.isdir(f"{self.files.root}/runs"):
            raise InputError(
                self.url, "is not a store yet; fill it with `switchpoint import FILE...` first"
            )
        return paths

    @steady
    def _needed(self, encoded: Encoded) -> tuple[list[str], list[DataWarning]]:
        """Return the runs of an import that are to be written, and what could not be read."""
        names = ["run_id", "complete", "start_utc"]
        runs, not_taken = brief_runs(self.files, names, set(encoded.months()))
        own = runs[runs["run_id"].isin(encoded.runs()["run_id"])]
        return needed(StoredRuns(self.files, own), encoded), not_taken

    def _dated(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Add when and in which session the runs of some rows were made."""
        missing = [name for name in ("start_utc", "session") if name not in frame]
        if not missing or frame.empty:
            return frame
        runs, _ = brief_runs(self.files, ["run_id", *missing])
        runs = runs.drop_duplicates("run_id", keep="last")
        run = pd.Categorical(frame["run_id"])
        values = runs.set_index("run_id").reindex(run.categories)
        return frame.assign(
            **{
                name: pd.Categorical(values[name]).take(run.codes, allow_fill=True)
                for name in missing
            }
        )
