"""The runs of a store with their batches, each once, and what else is stored of them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from switchpoint.data_warnings import DataWarning
from switchpoint.store.batches import TABLES, Encoded, batch_files, batch_of, path
from switchpoint.store.files import Rewritten, StoreFiles
from switchpoint.store.scan import FILE, Loss, scan, unread
from switchpoint.store.soundness import problem_of_table
from switchpoint.store.tables import RUNS, SLIM, STORED_AS
from switchpoint.store.wanted import Wanted, both
from switchpoint.tables.builds import RUN_IDENTITY, build_words
from switchpoint.tables.columns import REPRODUCES, RUN_COLUMNS, lasting_labels

#: Runs that Arrow looks for while it reads. For more, all rows are read first, which is faster.
_FEW = 1000

_REPRODUCED = f'"{REPRODUCES}": ?"([^"]*)"'  # in the labels' JSON

#: What a damaged file of a table costs.
_COSTS = {
    "samples": "its samples are left out",
    "curves": "its curves are left out",
    "facts": "its runs are used without headers, footers and locks",
    "runs": "its runs are left out",
}


class StoredRuns:
    """Runs and where they are.

    Parameters
    ----------
    files
        The store.
    rows : DataFrame
        `RUN_COLUMNS` as far as they were read, `STORED_AS`, which sorts runs by when they were
        stored, and `batch`. A run that two writers stored has two rows.

    Attributes
    ----------
    runs : DataFrame
        Each run once, oldest first.
    """

    def __init__(self, files: StoreFiles, rows: pd.DataFrame) -> None:
        self._files = files
        # A complete run wins against a truncated one, then the newest batch.
        rows = rows.sort_values(["complete", "batch"], na_position="first", kind="stable")
        self._twice = set(rows.loc[rows["run_id"].duplicated(), "run_id"])
        self._batches = sorted(rows["batch"].unique())
        rows = rows.drop_duplicates("run_id", keep="last")
        self.runs = rows.sort_values(["start_utc", "run_id"], ignore_index=True)

    @classmethod
    def read(
        cls, files: StoreFiles, paths: list[str], wanted: Wanted
    ) -> tuple[StoredRuns, list[DataWarning]]:
        """Return the wanted runs of some files of `runs`, and what could not be read."""
        condition = wanted.to_the_minute().condition(SLIM)
        table, damaged = scan(
            files, wanted.files(paths), RUNS, condition, with_file=True, check=problem_of_table
        )
        rows = _with_batches(table.to_pandas())
        foreign = rows["run_id"].isna()
        damaged += [
            unread(path(files, "runs", batch), "is not a file of a store; remove it")
            for batch in rows.loc[foreign, "batch"].unique()
        ]
        rows = wanted.rows(rows[~foreign])
        names = {batch: batch.rpartition("/")[2] for batch in rows["batch"].unique()}
        first = rows[STORED_AS].astype(object)
        rows[STORED_AS] = first.where(first.notna(), rows["batch"].map(names)).astype("str")
        return cls(files, rows), damaged

    def newest(self, sessions: int) -> pd.DataFrame:
        """Return the runs of the newest sessions of every curve, and all runs without a date.

        A run without a session is one by itself. If a run repeats another run, that one is
        returned as well.
        """
        dated = self.runs[self.runs["start_utc"].notna()]
        builds_of = dated[["builder", "spack_spec", "program"]].astype(object)
        # Of a million runs there are few builds.
        words = {
            tuple(run): " ".join(build_words(dict(zip(builds_of, run, strict=True))))
            for run in builds_of.drop_duplicates().itertuples(index=False)
        }
        builds = [words[tuple(run)] for run in builds_of.itertuples(index=False)]
        telling = dated[RUN_IDENTITY].assign(
            labels=dated["labels"].map(lasting_labels), build=builds
        )
        session = dated["session"].fillna(dated["run_id"])
        of_curve = pd.DataFrame(
            {"curve": telling.groupby([*telling], dropna=False).ngroup(), "session": session}
        )
        # Runs are sorted by time, so a session is as new as its last run.
        newest = of_curve.drop_duplicates(keep="last").groupby("curve").tail(sessions)
        is_newest = pd.MultiIndex.from_frame(of_curve).isin(pd.MultiIndex.from_frame(newest))
        again = dated.loc[is_newest, "labels"].str.extract(_REPRODUCED, expand=False)
        chosen = dated[is_newest | dated["run_id"].isin(again)]
        return pd.concat([chosen, self.runs[self.runs["start_utc"].isna()]])

    def batches(self) -> list[str]:
        """Return every batch, also those whose runs are newer elsewhere."""
        return self._batches

    def by_batch(self) -> Iterator[tuple[str, pd.DataFrame]]:
        """Yield each batch with its runs."""
        for batch, part in self.runs.groupby("batch"):
            yield str(batch), part

    def of(self, batches: list[str]) -> pd.DataFrame:
        """Return the runs of some batches."""
        return self.runs[self.runs["batch"].isin(batches)]

    def everything(
        self, runs: pd.DataFrame, tables: list[str]
    ) -> tuple[Encoded, list[DataWarning]]:
        """Return these tables of some of the runs, and what could not be read."""
        found, damaged = {}, []
        for table in tables:
            if table == "runs":  # these know as which batch they were first stored
                found[table] = pa.Table.from_pandas(runs, schema=RUNS, preserve_index=False)
                continue
            found[table], failed = self.rows(table, runs)
            damaged += failed
        return Encoded(found), damaged

    def complete(self, runs: pd.DataFrame) -> tuple[pd.DataFrame, list[DataWarning]]:
        """Return all `RUN_COLUMNS` of some of the runs, and what could not be read."""
        facts, damaged = self.rows("facts", runs)
        # Another program may have written the facts of a run twice; it is still one run.
        once = facts.to_pandas().drop_duplicates("run_id", keep="last")
        return runs[SLIM].merge(once, on="run_id", how="left")[RUN_COLUMNS], damaged

    def gone(self, table: str) -> set[str]:
        """Return the runs whose file of a table was removed."""
        batches = self.runs["batch"].unique()
        if not len(batches):
            return set()
        gone = self._gone({batch: path(self._files, table, batch) for batch in batches}, table)
        return set(self.runs.loc[self.runs["batch"].isin(gone), "run_id"])

    def with_rows(self, table: str, run_ids: set[str]) -> set[str]:
        """Return those of some runs that have rows in a table."""
        runs = self.runs[self.runs["run_id"].isin(run_ids)]
        others = {field.name for field in TABLES[table]} - {"run_id"}
        return set(self.rows(table, runs, without=others)[0]["run_id"].unique().to_pylist())

    def rows(
        self,
        table: str,
        runs: pd.DataFrame,
        condition: Any = None,
        without: Collection[str] = (),
    ) -> tuple[pa.Table, list[DataWarning]]:
        """Return the rows of a table that belong to some of the runs.

        Parameters
        ----------
        table
            One of `TABLES`.
        runs
            Rows of `runs`.
        condition
            Arrow's filter of the rows, or None.
        without
            Columns that are not read.

        Returns
        -------
        table
            In the schema of the table.
        list of DataWarning
            What could not be read.
        """
        paths = {batch: path(self._files, table, batch) for batch in runs["batch"].unique()}
        gone = self._gone(paths, table)
        twice = bool(self._twice & set(runs["run_id"]))
        own = None
        # Headers are large, so only the wanted ones are kept in memory.
        if len(runs) <= _FEW or table == "facts":
            own = ds.field("run_id").isin(runs["run_id"].tolist())
        rows, lost = scan(
            self._files,
            [name for batch, name in paths.items() if batch not in gone],
            pa.schema([field for field in TABLES[table] if field.name not in without]),
            both(own, condition),
            with_file=twice,
            loss=Loss(_COSTS[table], "Remove the file and import its runs again"),
            check=problem_of_table,
        )
        if own is None:
            rows = _of_runs(rows, runs["run_id"])
        if gone:
            number = int(runs["batch"].isin(gone).sum())
            which = f"{number} run{'s' * (number != 1)}"
            what = f"the {table} of {which} were removed"
            lost.append(DataWarning("removed", what, self._files.url))
        return (_newest(rows, runs, paths) if twice else rows), lost

    def _gone(self, paths: dict[str, str], table: str) -> set[str]:
        """Return the batches without their file of a table; their runs must still be there."""
        there = {*self._files.below(table)}
        gone = {batch for batch, name in paths.items() if name not in there}
        if self._files.local:  # a network file system may list a new file late, but finds it
            gone = {batch for batch in gone if not self._files.exists(paths[batch])}
        if any(not self._files.exists(path(self._files, "runs", batch)) for batch in gone):
            raise Rewritten
        return gone


def brief_runs(
    files: StoreFiles, names: list[str], months: set[str] | None = None
) -> tuple[pd.DataFrame, list[DataWarning]]:
    """Return few columns and the batch of all runs, or of some months, and what could not be read.

    A run may come twice.
    """
    paths = batch_files(files, "runs")
    if months is not None:
        paths = [name for name in paths if batch_of(name).partition("/")[0] in months]
    schema = pa.schema([RUNS.field(name) for name in names])
    table, not_taken = scan(files, paths, schema, with_file=True)
    runs = _with_batches(table.to_pandas())
    return runs[runs["run_id"].notna()], not_taken


def _with_batches(rows: pd.DataFrame) -> pd.DataFrame:
    """Replace the column `FILE` by the batch of each row, `batch`."""
    places = rows.pop(FILE)
    return rows.assign(batch=places.map({name: batch_of(name) for name in places.unique()}))


def _of_runs(rows: pa.Table, run_ids: pd.Series[str]) -> pa.Table:
    """Return the rows of these runs."""
    wanted = pa.array(run_ids, pa.string())
    if not pa.types.is_dictionary(rows.schema.field("run_id").type):
        return rows.filter(pc.is_in(rows["run_id"], wanted))
    masks = [
        pc.is_in(chunk.dictionary, wanted).take(chunk.indices) for chunk in rows["run_id"].chunks
    ]
    mask = pa.chunked_array(masks, pa.bool_())
    return rows if pc.all(mask).as_py() else rows.filter(mask)


def _newest(rows: pa.Table, runs: pd.DataFrame, paths: dict[str, str]) -> pa.Table:
    """Return those rows that come from the batch of their run."""
    places = runs["batch"].map(paths)
    own = [f"{run} {place}" for run, place in zip(runs["run_id"], places, strict=True)]
    found = pc.binary_join_element_wise(
        pc.cast(rows["run_id"], pa.string()), pc.cast(rows[FILE], pa.string()), " "
    )
    return rows.filter(pc.is_in(found, pa.array(own, pa.string()))).drop_columns([FILE])
