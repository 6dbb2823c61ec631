"""Single values of other projects' tests, which have no message size, in the store."""

from __future__ import annotations

import hashlib

import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds

from switchpoint.errors import InputError
from switchpoint.store.checksums import verified_format
from switchpoint.store.files import Rewritten, StoreFiles
from switchpoint.store.mark import set_mark
from switchpoint.store.tables import VALUE_PARTITIONS, VALUES, parquet, partition_text
from switchpoint.store.wanted import Query, Wanted
from switchpoint.tables.columns import VALUE_COLUMNS, none_for_nulls


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
    """Read the wanted values (`VALUE_COLUMNS`), oldest first."""
    condition = Wanted.of(query, "time_utc").condition(VALUE_COLUMNS)
    paths = files.below("values")
    if not paths:
        return pd.DataFrame(columns=VALUE_COLUMNS)
    try:
        table = ds.dataset(
            paths,
            schema=pa.schema([*VALUES, *VALUE_PARTITIONS]),
            filesystem=files.system,
            format=verified_format(),
            partitioning=ds.partitioning(VALUE_PARTITIONS, flavor="hive"),
            partition_base_dir=f"{files.root}/values",
        ).to_table(filter=condition)
    except FileNotFoundError:
        raise Rewritten from None
    except (pa.ArrowException, OSError) as error:
        raise InputError(
            files.url,
            f"contains a damaged file of values ({str(error).splitlines()[0]}); `switchpoint"
            " store verify` names it",
        ) from None
    values: pd.DataFrame = table.select(VALUE_COLUMNS).to_pandas()
    values = values.sort_values(["time_utc", "value_id"]).drop_duplicates("value_id")
    return values.reset_index(drop=True)
