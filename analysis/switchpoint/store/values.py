"""Single values of other projects' tests, which have no message size, in the store."""

from __future__ import annotations

import hashlib

import pandas as pd
import pyarrow as pa

from switchpoint.store.files import StoreFiles
from switchpoint.store.mark import set_mark
from switchpoint.store.scan import FILE, Folders, scan
from switchpoint.store.soundness import problem_of_table
from switchpoint.store.tables import VALUE_PARTITIONS, VALUES, parquet, partition_text
from switchpoint.store.wanted import Query, Wanted
from switchpoint.tables.columns import VALUE_COLUMNS, none_for_nulls

#: What every value has.
_ALWAYS = ["value_id", "time_utc", "test", "variable", "value"]


def keep_values(files: StoreFiles, values: pd.DataFrame) -> pd.DataFrame:
    """Store those values that are new, and return them.

    There is a file for each site, named by its content. Two writers may write the same value at
    the same time; `read_values` counts it once.
    """
    if values.empty:
        return values
    set_mark(files)
    known = read_values(files)["value_id"]
    fresh = values[~values["value_id"].isin(known)].drop_duplicates("value_id")
    for site, part in fresh.groupby("site", dropna=False):
        name = hashlib.sha256("".join(sorted(part["value_id"])).encode()).hexdigest()[:32]
        folder = f"{files.root}/values/site={partition_text(site)}"
        rows = none_for_nulls(part[VALUES.names]).to_dict("records")
        table = pa.Table.from_pylist(rows, schema=VALUES)
        files.write(f"{folder}/{name}.parquet", parquet(table))
    return fresh


def read_values(files: StoreFiles, **query: Query) -> pd.DataFrame:
    """Read the wanted values (`VALUE_COLUMNS`), oldest first.

    Its `attrs["not_taken"]` lists what could not be read.
    """
    table, damaged = scan(
        files,
        files.below("values"),
        pa.schema([*VALUES, *VALUE_PARTITIONS]),
        Wanted.of(query, "time_utc").condition(VALUE_COLUMNS),
        with_file=True,
        loss="its values are left out. Remove the file and import them again",
        folders=Folders(f"{files.root}/values", VALUE_PARTITIONS),
        check=problem_of_table,
    )
    values: pd.DataFrame = table.to_pandas()
    places = values.pop(FILE)
    foreign = values[_ALWAYS].isna().any(axis=1)
    damaged += [
        f"{name}: is not a file of a store; remove it" for name in sorted(places[foreign].unique())
    ]
    values = values.loc[~foreign, VALUE_COLUMNS]
    values = values.sort_values(["time_utc", "value_id"]).drop_duplicates("value_id")
    values = values.reset_index(drop=True)
    values.attrs["not_taken"] = damaged
    return values
