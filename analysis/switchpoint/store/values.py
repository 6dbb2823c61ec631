"""Single values of other projects' tests, which have no message size, in the store."""

from __future__ import annotations

import hashlib

import pandas as pd
import pyarrow as pa

from switchpoint.data_warnings import DataWarning
from switchpoint.store.files import StoreFiles
from switchpoint.store.mark import set_mark
from switchpoint.store.not_taken import noted
from switchpoint.store.scan import FILE, Folders, Loss, scan, unread
from switchpoint.store.soundness import problem_of_table
from switchpoint.store.tables import VALUE_PARTITIONS, VALUES, parquet, partition_text
from switchpoint.store.wanted import Query, Wanted
from switchpoint.tables.columns import VALUE_COLUMNS

#: What every value has.
_ALWAYS = ["value_id", "time_utc", "test", "variable", "value"]


def keep_values(files: StoreFiles, values: pd.DataFrame) -> pd.DataFrame:
    """Store those values that are new, and return them, with `attrs` as of `read_values`.

    There is a file for each site, named by its content. Two writers may write the same value at
    the same time; `read_values` counts it once.
    """
    if values.empty:
        return values
    set_mark(files)
    values = values.drop_duplicates("value_id")
    new: set[str] = set()
    not_taken: list[DataWarning] = []
    for site, part in values.groupby("site", dropna=False, sort=False):
        folder = f"values/site={partition_text(site)}"
        newer = Wanted({}, since=str(part["time_utc"].min()), time="time_utc")
        known, damaged = values_of(files, files.below(folder), newer)
        not_taken += damaged
        fresh = part[~part["value_id"].isin(known["value_id"])]
        if len(fresh):
            write_values(files, f"{files.root}/{folder}", fresh)
            new.update(fresh["value_id"])
    return noted(values[values["value_id"].isin(new)], not_taken)


def write_values(files: StoreFiles, folder: str, values: pd.DataFrame) -> str:
    """Write values of one site as one file, named by its content, and return its path."""
    name = hashlib.sha256("".join(sorted(values["value_id"])).encode()).hexdigest()[:32]
    path = f"{folder}/{name}.parquet"
    table = pa.Table.from_pandas(values[VALUES.names], schema=VALUES, preserve_index=False)
    files.write(path, parquet(table.replace_schema_metadata(None)))
    return path


def read_values(files: StoreFiles, **query: Query) -> pd.DataFrame:
    """Read the wanted values (`VALUE_COLUMNS`), oldest first.

    Its `attrs["not_taken"]` lists what could not be read.
    """
    values, damaged = values_of(files, files.below("values"), Wanted.of(query, "time_utc"))
    return noted(values, damaged)


def values_of(
    files: StoreFiles, paths: list[str], wanted: Wanted
) -> tuple[pd.DataFrame, list[DataWarning]]:
    """Return the wanted values of some files, each once, and what could not be read."""
    table, damaged = scan(
        files,
        paths,
        pa.schema([*VALUES, *VALUE_PARTITIONS]),
        wanted.condition(VALUE_COLUMNS),
        with_file=True,
        loss=Loss("its values are left out", "Remove the file and import them again"),
        folders=Folders(f"{files.root}/values", VALUE_PARTITIONS),
        check=problem_of_table,
    )
    values: pd.DataFrame = table.to_pandas()
    places = values.pop(FILE)
    foreign = values[_ALWAYS].isna().any(axis=1)
    damaged += [
        unread(name, "is not a file of a store; remove it")
        for name in sorted(places[foreign].unique())
    ]
    values = values.loc[~foreign, VALUE_COLUMNS]
    values = values.sort_values(["time_utc", "value_id"]).drop_duplicates("value_id")
    return values.reset_index(drop=True), damaged
