"""Batches: what one import adds to the store, as one file for each table and month.

A batch is in the store when its file of `runs` is there, which is written last. Its files have one
name, so whoever knows the batch of a run knows where its samples are.
"""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timezone

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from switchpoint.data_warnings import DataWarning, warnings_of_text
from switchpoint.errors import InputError
from switchpoint.store.files import StoreFiles
from switchpoint.store.tables import CURVES, FACTS, RUNS, SAMPLES, packed, parquet
from switchpoint.tables.columns import records
from switchpoint.tables.curves import summary_of
from switchpoint.tables.measurements import Measurements
from switchpoint.tables.validity import whole_start

#: The tables of a batch, in the order in which they are written.
TABLES = {"samples": SAMPLES, "curves": CURVES, "facts": FACTS, "runs": RUNS}

#: Runs without a date are one month of their own.
UNDATED = "undated"


@dataclass(frozen=True)
class Encoded:
    """Runs in the store's schemas, with everything that belongs to them.

    Attributes
    ----------
    tables : dict
        By the names in `TABLES`, in their order. Old runs may have no samples any more.
    """

    tables: dict[str, pa.Table]

    @classmethod
    def of(cls, measurements: Measurements) -> Encoded:
        """Encode measurements. This takes most of the time of an import."""
        rows = records(measurements.runs)
        for row in rows:
            row["start_utc"] = row["start_utc"] and whole_start(row["start_utc"])
        return cls(
            {
                "samples": packed(measurements.samples, SAMPLES),
                "curves": packed(summary_of(measurements), CURVES),
                "facts": pa.Table.from_pylist(rows, schema=FACTS),
                "runs": pa.Table.from_pylist(rows, schema=RUNS),
            }
        )

    @classmethod
    def joined(cls, parts: list[Encoded]) -> Encoded:
        """Join several. Of a run that several contain, a complete one counts, then the last."""
        numbered = [part.runs().assign(part=number) for number, part in enumerate(parts)]
        runs = pd.concat(numbered, ignore_index=True).sort_values("complete", kind="stable")
        once = runs.drop_duplicates("run_id", keep="last")
        if len(once) < len(runs):
            parts = [
                part.only(once.loc[once["part"] == number, "run_id"].tolist())
                for number, part in enumerate(parts)
            ]
        return cls(
            {
                name: pa.concat_tables([part.tables[name] for part in parts]).unify_dictionaries()
                for name in TABLES
            }
        )

    @property
    def size_bytes(self) -> int:
        """Memory of all tables."""
        return sum(table.nbytes for table in self.tables.values())

    def runs(self) -> pd.DataFrame:
        """Return `run_id`, `date` and `complete` of each run."""
        frame: pd.DataFrame = self.tables["runs"].select(["run_id", "date", "complete"]).to_pandas()
        return frame

    def warnings(self) -> dict[str, list[DataWarning]]:
        """Return the warnings of each run."""
        runs = self.tables["runs"]
        texts = zip(runs["run_id"].to_pylist(), runs["warnings"].to_pylist(), strict=True)
        return {run: warnings_of_text(text) for run, text in texts}

    def run_ids(self, table: str) -> set[str]:
        """Return the runs that have rows in a table."""
        return set(self.tables[table]["run_id"].unique().to_pylist())

    def months(self) -> list[str]:
        """Return the folders of the months of the runs' dates."""
        months = self.runs()["date"].str[:7].fillna(UNDATED)
        return [f"month={month}" for month in months.unique()]

    def only(self, run_ids: list[str]) -> Encoded:
        """Return these runs."""
        wanted = pa.array(run_ids, pa.string())
        return Encoded(
            {
                name: table.filter(pc.is_in(pc.cast(table["run_id"], pa.string()), wanted))
                for name, table in self.tables.items()
            }
        )

    def by_month(self) -> Iterator[tuple[str, Encoded]]:
        """Split by the month of the runs' dates."""
        runs = self.runs()
        months = runs["date"].str[:7].fillna(UNDATED)
        for month, part in runs.groupby(months):
            alone = len(part) == len(runs)
            yield str(month), self if alone else self.only(part["run_id"].tolist())


def write(files: StoreFiles, encoded: Encoded) -> None:
    """Add runs to the store as one batch."""
    name = batch_name()
    for month, part in encoded.by_month():
        with whole_batch(files, f"month={month}/{name}", list(part.tables)) as write_table:
            for table, rows in part.tables.items():
                write_table(table, parquet(rows))


@contextlib.contextmanager
def whole_batch(
    files: StoreFiles, batch: str, tables: list[str]
) -> Iterator[Callable[[str, bytes], None]]:
    """Give a function that writes a table of a new batch; if anything fails, remove all of it.

    On a full disk, each further try would leave more otherwise.
    """
    try:
        yield lambda table, content: files.write(path(files, table, batch), content)
    except BaseException:
        with contextlib.suppress(InputError):
            files.remove([path(files, table, batch) for table in reversed(tables)])
        raise


def batch_name() -> str:
    """Return a name that no other writer uses, and that sorts after all older ones."""
    return f"{datetime.now(timezone.utc):%Y%m%dT%H%M%S%f}-{uuid.uuid4().hex[:8]}"


def joined_name(batches: list[str]) -> str:
    """Return a name that no other writer uses, and that sorts as the newest of some batches."""
    newest = max(batch.rpartition("/")[2] for batch in batches)
    return f"{newest.partition('-')[0]}-{uuid.uuid4().hex[:8]}"


def path(files: StoreFiles, table: str, batch: str) -> str:
    """Return the file of a table of a batch, such as `month=2026-11/20261122T...`."""
    return f"{files.root}/{table}/{batch}.parquet"


def batch_bytes(files: StoreFiles, batch: str) -> int:
    """Return the bytes of all files of a batch; samples may have been removed."""
    own = (path(files, table, batch) for table in TABLES)
    return sum(files.size(name) for name in own)


def batch_of(path: str) -> str:
    """Return the batch that a file belongs to."""
    month, name = path.split("/")[-2:]
    return f"{month}/{name.removesuffix('.parquet')}"


def month_of(path: str) -> str:
    """Return the folder of a file's month, such as `month=2026-11`."""
    return path.split("/")[-2]


def batch_files(files: StoreFiles, table: str) -> list[str]:
    """Return the files of a table; raises InputError for a layout that was never released."""
    paths = files.below(table)
    if any("/date=" in path for path in paths):
        raise InputError(
            files.url,
            "has a layout that is no longer read; import its files again, into a new store",
        )
    return [path for path in paths if path.split("/")[-2].startswith("month=")]
