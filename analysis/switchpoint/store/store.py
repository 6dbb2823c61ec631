"""The store: Parquet files of samples, curves, runs and single values, on any fsspec URL.

Writers only add files and never change those of others, so nothing is lost; see `batches`.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from switchpoint.errors import InputError
from switchpoint.store.batches import TABLES, Encoded, batch_of, in_batches, path, write
from switchpoint.store.checksums import verified_format
from switchpoint.store.files import StoreFiles
from switchpoint.store.first_layout import FirstLayout
from switchpoint.store.mark import MARK, check_mark, set_mark
from switchpoint.store.scan import FILE, scan
from switchpoint.store.stored_runs import StoredRuns
from switchpoint.store.tables import (
    RUNS,
    VALUE_PARTITIONS,
    VALUES,
    equals,
    parquet,
    partition_text,
    unpacked,
)
from switchpoint.tables.builds import tell_builds
from switchpoint.tables.columns import (
    CURVE_COLUMNS,
    MEASURES,
    RUN_COLUMNS,
    VALUE_COLUMNS,
    none_for_nulls,
)
from switchpoint.tables.measurements import Measurements, concat
from switchpoint.tables.validity import problem_of


class Store:
    """Measurements in one folder or URL.

    Parameters
    ----------
    url
        A folder, or any URL that fsspec supports (`s3://bucket/results`, `memory://results`).
    """

    def __init__(self, url: str | os.PathLike[str] = "results") -> None:
        self.url = os.fspath(url)
        self.files = StoreFiles(self.url)

    @property
    def own(self) -> list[Path]:
        """Its local folders and files, which are not to be imported; none if it is not local."""
        if not self.files.local:
            return []
        return [Path(self.files.root, name) for name in (*TABLES, "values", MARK)]

    def add(self, measurements: Measurements) -> int:
        """Store every run that is new, or that replaces a truncated run.

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
        return len(self.keep(Encoded.of(measurements)))

    def keep(self, encoded: Encoded) -> list[str]:
        """Write those runs that `add` would write, as one batch, and return their IDs."""
        known = self._known()
        runs = encoded.runs()
        runs = runs.sort_values("complete", kind="stable").drop_duplicates("run_id", keep="last")
        new = [
            run
            for run, complete in zip(runs["run_id"], runs["complete"], strict=True)
            if run not in known or (complete and not known[run])
        ]
        if new:
            set_mark(self.files)
            write(self.files, encoded if len(new) == len(encoded.runs()) else encoded.only(new))
        return new

    def keep_values(self, values: pd.DataFrame) -> pd.DataFrame:
        """Store new single values (`VALUE_COLUMNS`), and return those.

        There is a file for each site, named by its content. Two writers may write the same value
        at the same time; `single_values` counts it once.
        """
        if values.empty:
            return values
        set_mark(self.files)
        known = self.single_values()["value_id"]
        fresh = values[~values["value_id"].isin(known)].drop_duplicates("value_id")
        for site, part in fresh.groupby("site", dropna=False):
            name = hashlib.sha256("".join(sorted(part["value_id"])).encode()).hexdigest()[:32]
            folder = f"{self.files.root}/values/site={partition_text(site)}"
            rows = none_for_nulls(part[VALUES.names]).to_dict("records")
            table = pa.Table.from_pylist(rows, schema=VALUES)
            self.files.write(f"{folder}/{name}.parquet", parquet(table))
        return fresh

    def single_values(self, **wanted: str) -> pd.DataFrame:
        """Read the single values (`VALUE_COLUMNS`), oldest first.

        Parameters
        ----------
        **wanted
            Columns and the value that each must have, such as `test="Stream"`.
        """
        condition = equals(wanted, VALUE_COLUMNS)
        paths = self.files.below("values")
        if not paths:
            return pd.DataFrame(columns=VALUE_COLUMNS)
        try:
            table = ds.dataset(
                paths,
                schema=pa.schema([*VALUES, *VALUE_PARTITIONS]),
                filesystem=self.files.system,
                format=verified_format(),
                partitioning=ds.partitioning(VALUE_PARTITIONS, flavor="hive"),
                partition_base_dir=f"{self.files.root}/values",
            ).to_table(filter=condition)
        except (pa.ArrowException, OSError) as error:
            raise InputError(
                self.url,
                f"contains a damaged file of values ({str(error).splitlines()[0]}); `switchpoint"
                " store verify` names it",
            ) from None
        values: pd.DataFrame = table.select(VALUE_COLUMNS).to_pandas()
        values = values.sort_values(["time_utc", "value_id"]).drop_duplicates("value_id")
        return values.reset_index(drop=True)

    def runs(self, **wanted: str) -> pd.DataFrame:
        """Read the runs table, oldest first: `RUN_COLUMNS` without the large ones.

        Parameters
        ----------
        **wanted
            Columns and the value that each must have.
        """
        runs: pd.DataFrame = self.stored(**wanted)[0].runs[RUNS.names]
        return runs

    def read(self, **wanted: str) -> Measurements:
        """Read measurements whose columns have the wanted values, such as `kernel="pingpong"`.

        Values of `mode` select samples, all others select runs. Parquet applies both filters.
        """
        mode = {"mode": wanted.pop("mode")} if "mode" in wanted else {}
        stored, damaged = self.stored(**wanted)
        return self._measurements(stored.runs, damaged, mode, stored)

    def latest(self, sessions: int = 1, **wanted: str) -> Measurements:
        """Read so many of the newest sessions of every curve, and all runs without a date.

        A run without a session is one by itself. If a run repeats another run, that run is read as
        well, so that both can be compared. `wanted` is as for `read`.
        """
        mode = {"mode": wanted.pop("mode")} if "mode" in wanted else {}
        stored, damaged = self.stored(**wanted)
        return self._measurements(stored.newest(sessions), damaged, mode, stored)

    def curves(self, **wanted: str) -> pd.DataFrame:
        """Read the points of curves, as from `summarise`; they are kept longer than the samples."""
        mode = {"mode": wanted.pop("mode")} if "mode" in wanted else {}
        stored, _ = self.stored(**wanted)
        table, _ = self._rows("curves", stored.runs, stored, equals(mode, ["mode"]))
        return unpacked(table, CURVE_COLUMNS)

    def stored(self, **wanted: str) -> tuple[StoredRuns, list[str]]:
        """Return the wanted runs with their batches, and what could not be read."""
        condition = equals(wanted, RUNS.names)
        check_mark(self.files)
        paths = self.files.below("runs")
        if not paths and not self.files.system.isdir(f"{self.files.root}/runs"):
            raise InputError(
                self.url, "is not a store yet; fill it with `switchpoint import FILE...` first"
            )
        ours, older = in_batches(paths)
        table, damaged = scan(self.files, ours, RUNS, condition, with_file=True)
        rows: pd.DataFrame = table.to_pandas()
        rows["batch"] = rows.pop(FILE).map(batch_of)
        foreign = rows["run_id"].isna()
        damaged += [
            f"{path(self.files, 'runs', batch)}: is not a file of a store; remove it"
            for batch in rows.loc[foreign, "batch"].unique()
        ]
        rows = rows[~foreign]
        if older:
            before, failed = FirstLayout(self.files, older).runs()
            for name, value in wanted.items():
                before = before[before[name] == value]
            rows = pd.concat([rows, before.assign(batch=None)], ignore_index=True)
            damaged += failed
        return StoredRuns(rows), damaged

    def tables_of(self, stored: StoredRuns, runs: pd.DataFrame) -> tuple[Encoded, list[str]]:
        """Return everything that is stored of some runs, and what could not be read."""
        tables, damaged = {}, []
        for table in TABLES:
            tables[table], failed = self._rows(table, runs, stored)
            damaged += failed
        return Encoded(tables), damaged

    def _measurements(
        self, runs: pd.DataFrame, damaged: list[str], mode: dict[str, str], stored: StoredRuns
    ) -> Measurements:
        if runs.empty:
            empty = "contains no run that matches; `report` shows what it contains"
            raise InputError(self.url, damaged[0] if damaged else empty)
        told, condition = list(damaged), equals(mode, ["mode"])
        parts = []
        ours, before = runs[runs["batch"].notna()], runs[runs["batch"].isna()]
        if len(ours):
            facts, failed = self._rows("facts", ours, stored)
            table, lost = self._rows("samples", ours, stored, condition)
            whole = ours[RUNS.names].merge(facts.to_pandas(), on="run_id", how="left")
            parts.append(Measurements(unpacked(table, MEASURES), whole[RUN_COLUMNS]))
            told += [*failed, *lost]
        if len(before):
            samples, failed = FirstLayout(self.files, []).samples(before, condition)
            parts.append(Measurements(samples, before[RUN_COLUMNS].reset_index(drop=True)))
            told += failed
        found = concat(parts)
        return tell_builds(dataclasses.replace(found, not_taken=[*found.not_taken, *told]))

    def _rows(
        self, table: str, runs: pd.DataFrame, stored: StoredRuns, condition: Any = None
    ) -> tuple[pa.Table, list[str]]:
        """Return the rows of a table that belong to these runs."""
        paths = {batch: path(self.files, table, batch) for batch in runs["batch"].dropna().unique()}
        there = {*self.files.below(table)}
        wanted = ds.field("run_id").isin(runs["run_id"].tolist())
        twice = stored.any_twice(runs)
        rows, told = scan(
            self.files,
            [name for name in paths.values() if name in there],
            TABLES[table],
            wanted if condition is None else wanted & condition,
            with_file=twice,
        )
        gone = [batch for batch, name in paths.items() if name not in there]
        if gone:
            number = int(runs["batch"].isin(gone).sum())
            told.append(f"{self.url}: the {table} of {number} runs were removed")
        if not twice:
            return rows, told
        own = [
            f"{run} {paths[batch]}"
            for run, batch in zip(runs["run_id"], runs["batch"], strict=True)
        ]
        place = pc.binary_join_element_wise(
            pc.cast(rows["run_id"], pa.string()), pc.cast(rows[FILE], pa.string()), " "
        )
        return rows.filter(pc.is_in(place, pa.array(own, pa.string()))).drop_columns([FILE]), told

    def _known(self) -> dict[str, bool]:
        """Return for each stored run whether it is complete."""
        if not self.files.system.isdir(f"{self.files.root}/runs"):
            self.files.check_access(self.files.root)
            return {}
        runs = self.stored()[0].runs
        return dict(zip(runs["run_id"], runs["complete"].astype(bool), strict=True))
