"""The store: Parquet datasets of samples, runs and single values, on any fsspec URL.

Each run is two files. They are written under a hidden name and renamed, the samples first, so a run
is in the store when its row in `runs` is. Writers never touch the same file, so nothing is lost.
"""

from __future__ import annotations

import hashlib
import os
import uuid
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import fsspec
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from fsspec.implementations.local import LocalFileSystem

from switchpoint.errors import InputError
from switchpoint.store.tables import (
    PARTITIONS,
    RUNS,
    SAMPLES,
    VALUE_PARTITIONS,
    VALUES,
    equals,
    parquet,
    partition_text,
    samples_frame,
    samples_table,
    with_own_dictionaries,
)
from switchpoint.tables.builds import RUN_IDENTITY, build_words, tell_builds
from switchpoint.tables.columns import (
    REPRODUCES,
    RUN_COLUMNS,
    VALUE_COLUMNS,
    lasting_labels,
    none_for_nulls,
)
from switchpoint.tables.measurements import Measurements

_REPRODUCED = f'"{REPRODUCES}": ?"([^"]*)"'  # in the labels' JSON


@dataclass(frozen=True)
class EncodedRun:
    """The two files of one run, as bytes; empty if the store has the run already.

    Attributes
    ----------
    place : dict
        `run_id`, `site`, `date` and `complete`.
    samples, described : bytes
        Parquet files of its samples and of its row in `runs`.
    """

    place: dict[Hashable, Any]
    samples: bytes = b""
    described: bytes = b""


class Store:
    """Measurements in one folder or URL.

    Parameters
    ----------
    url
        A folder, or any URL that fsspec supports (`s3://bucket/results`, `memory://results`).
    """

    def __init__(self, url: str | os.PathLike[str] = "results") -> None:
        self.url = os.fspath(url)
        try:
            self._files, self._root = fsspec.url_to_fs(self.url)
        except (ValueError, ImportError) as error:
            raise InputError(self.url, f"cannot be a store ({error})") from None

    @property
    def folders(self) -> list[Path]:
        """Local folders with its tables; none if the store is not local."""
        if not isinstance(self._files, LocalFileSystem):
            return []
        return [Path(self._root, table) for table in ("samples", "runs", "values")]

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
        """
        self.keep_values(measurements.single_values)
        return sum(self.keep(run) for run in self.encode(measurements))

    def encode(self, measurements: Measurements) -> Iterator[EncodedRun]:
        """Encode what `add` would write, run by run. This takes most of the time."""
        table = samples_table(measurements.samples)
        alone = len(measurements.runs) == 1
        rows = {} if alone else measurements.samples.groupby("run_id", observed=True).indices
        for run in none_for_nulls(measurements.runs).to_dict("records"):
            place = {name: run[name] for name in ("run_id", *PARTITIONS.names, "complete")}
            if self._holds(place):
                yield EncodedRun(place)
                continue
            own = table
            if not alone:
                own = with_own_dictionaries(table.take(rows.get(run["run_id"], [])))
            described = pa.Table.from_pylist([run], schema=RUNS)
            yield EncodedRun(place, parquet(own), parquet(described))

    def keep(self, run: EncodedRun) -> bool:
        """Write a run as `add` does, and return whether it was new."""
        if not run.samples or self._holds(run.place):
            return False
        self._write(self._path("samples", run.place), run.samples)
        self._write(self._path("runs", run.place), run.described)
        return True

    def keep_values(self, values: pd.DataFrame) -> pd.DataFrame:
        """Store new single values (`VALUE_COLUMNS`), and return those.

        There is a file for each site, named by its content. Two writers may write the same value
        at the same time; `single_values` counts it once.
        """
        if values.empty:
            return values
        known = self.single_values()["value_id"]
        fresh = values[~values["value_id"].isin(known)].drop_duplicates("value_id")
        for site, part in fresh.groupby("site", dropna=False):
            name = hashlib.sha256("".join(sorted(part["value_id"])).encode()).hexdigest()[:32]
            folder = f"{self._root}/values/site={partition_text(site)}"
            rows = none_for_nulls(part[VALUES.names]).to_dict("records")
            table = pa.Table.from_pylist(rows, schema=VALUES)
            self._write(f"{folder}/{name}.parquet", parquet(table))
        return fresh

    def single_values(self, **wanted: str) -> pd.DataFrame:
        """Read the single values (`VALUE_COLUMNS`), oldest first.

        Parameters
        ----------
        **wanted
            Columns and the value that each must have, such as `test="Stream"`.
        """
        folder = f"{self._root}/values"
        condition = equals(wanted, VALUE_COLUMNS)
        self._check_access(folder)
        if not self._files.isdir(folder):
            return pd.DataFrame(columns=VALUE_COLUMNS)
        table = self._scan(folder, VALUES, condition, VALUE_PARTITIONS)
        values: pd.DataFrame = table.select(VALUE_COLUMNS).to_pandas()
        values = values.sort_values(["time_utc", "value_id"]).drop_duplicates("value_id")
        return values.reset_index(drop=True)

    def runs(self, **wanted: str) -> pd.DataFrame:
        """Read the runs table (`RUN_COLUMNS`), oldest first.

        Parameters
        ----------
        **wanted
            Columns and the value that each must have; only matching partitions are opened.
        """
        folder = f"{self._root}/runs"
        self._check_access(folder)
        if not self._files.isdir(folder):
            raise InputError(
                self.url, "is not a store yet; fill it with `switchpoint import FILE...` first"
            )
        table = self._scan(folder, RUNS, equals(wanted, _RUN_FILTERS))
        runs: pd.DataFrame = table.select(RUN_COLUMNS).to_pandas()
        return runs.sort_values(["start_utc", "run_id"], ignore_index=True)

    def read(self, **wanted: str) -> Measurements:
        """Read measurements whose columns have the wanted values, such as `kernel="pingpong"`.

        Values of `mode` select samples, all others select runs. Parquet applies both filters.
        """
        mode = {"mode": wanted.pop("mode")} if "mode" in wanted else {}
        return self._samples_of(self.runs(**wanted), mode)

    def latest(self, sessions: int = 1, **wanted: str) -> Measurements:
        """Read so many of the newest sessions of every curve, and all runs without a date.

        A run without a session is one by itself. If a run repeats another run, that run is read as
        well, so that both can be compared. `wanted` is as for `read`.
        """
        mode = {"mode": wanted.pop("mode")} if "mode" in wanted else {}
        runs = self.runs(**wanted)
        dated = runs[runs["start_utc"].notna()]
        builds = [" ".join(build_words(run)) for run in dated.to_dict("records")]
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
        return self._samples_of(pd.concat([chosen, runs[runs["start_utc"].isna()]]), mode)

    def _samples_of(self, runs: pd.DataFrame, wanted: dict[str, str]) -> Measurements:
        if runs.empty:
            raise InputError(
                self.url, "contains no run that matches; `report` shows what it contains"
            )
        paths = [self._path("samples", run) for run in runs.to_dict("records")]
        table = self._scan(paths, SAMPLES, equals(wanted, _RUN_FILTERS))
        return tell_builds(Measurements(samples_frame(table), runs.reset_index(drop=True)))

    def _check_access(self, folder: str) -> None:
        """Raise InputError if a folder is not readable: it would look empty otherwise."""
        if self._files.isfile(self._root):
            raise InputError(self.url, "is a file, not a store; give a folder as --store")
        if isinstance(self._files, LocalFileSystem):
            try:
                os.scandir(folder).close()
            except FileNotFoundError:
                return
            except OSError as error:
                raise InputError(self.url, f"{error.strerror}; choose another --store") from None

    def _scan(
        self,
        source: str | list[str],
        schema: pa.Schema,
        condition: Any,
        partitions: pa.Schema = PARTITIONS,
    ) -> pa.Table:
        dictionaries = [field.name for field in schema if pa.types.is_dictionary(field.type)]
        try:
            return ds.dataset(
                source,
                schema=pa.schema([*schema, *partitions]),
                filesystem=self._files,
                format=ds.ParquetFileFormat(read_options={"dictionary_columns": dictionaries}),
                partitioning=ds.partitioning(partitions, flavor="hive"),
            ).to_table(filter=condition)
        except PermissionError as error:
            raise InputError(
                self.url, f"{error.strerror or 'Permission denied'}; choose another --store"
            ) from None
        except (pa.ArrowException, OSError) as error:
            reason = str(error).splitlines()[0]
            raise InputError(
                self.url, f"contains a damaged file ({reason}); remove it and import its run again"
            ) from None

    def _holds(self, run: Mapping[Hashable, Any]) -> bool:
        path = self._path("runs", run)
        if not self._files.exists(path):
            return False
        with self._files.open(path, "rb") as stream:
            stored = pq.read_table(stream, columns=["complete"]).column(0)[0].as_py()
        return bool(stored) or not run["complete"]

    def _path(self, table: str, run: Mapping[Hashable, Any]) -> str:
        site, date = (partition_text(run[name]) for name in PARTITIONS.names)
        name = quote(run["run_id"], safe="")
        return f"{self._root}/{table}/site={site}/date={date}/{name}.parquet"

    def _write(self, path: str, content: bytes) -> None:
        """Write one file completely or not at all."""
        folder, _, name = path.rpartition("/")
        try:
            self._files.makedirs(folder, exist_ok=True)
            if isinstance(self._files, LocalFileSystem):
                hidden = f"{folder}/.{name}.{uuid.uuid4().hex}"
                self._files.pipe_file(hidden, content)
                Path(hidden).replace(path)
            else:  # object stores show an object only when it is complete
                self._files.pipe_file(path, content)
        except OSError as error:
            raise InputError(
                self.url, f"cannot be written ({error.strerror or error}); choose another --store"
            ) from None


#: Columns that can select runs and samples.
_RUN_FILTERS = [*RUNS.names, *PARTITIONS.names, "mode"]
