"""The store's tables in Arrow: their schemas, and the conversion of pandas' tables."""

from __future__ import annotations

import io
import json
from typing import Any
from urllib.parse import quote

import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from switchpoint.errors import InputError
from switchpoint.tables.columns import (
    IDENTITY,
    MEASURES,
    RUN_COLUMNS,
    VALUE_COLUMNS,
    identity_columns,
)
from switchpoint.tables.measurements import constant

PARTITIONS = pa.schema([("site", pa.string()), ("date", pa.string())])

#: Hive's name for null, which Arrow reads back as null.
_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"

_TEXT = pa.dictionary(pa.int32(), pa.string())

#: Identity columns of other tools are one JSON text, so that all files have the same schema.
_OTHER = "other_identity"

SAMPLES = pa.schema(
    [(name, _TEXT) for name in IDENTITY if name != "site"]
    + [
        (_OTHER, _TEXT),
        ("size_bytes", pa.int64()),
        ("pass", pa.int32()),
        ("sample", pa.int32()),
        ("iterations", pa.int64()),
        ("time_us", pa.float64()),
    ]
)
RUNS = pa.schema(
    [
        (name, pa.bool_() if name == "complete" else pa.string())
        for name in RUN_COLUMNS
        if name not in PARTITIONS.names
    ]
)

#: Single values are divided by site only, because a log may contain a year of nightly runs.
VALUE_PARTITIONS = pa.schema([("site", pa.string())])
VALUES = pa.schema(
    [
        (name, pa.float64() if name in {"value", "reference", "lower", "upper"} else pa.string())
        for name in VALUE_COLUMNS
        if name not in VALUE_PARTITIONS.names
    ]
)


def parquet(table: pa.Table) -> bytes:
    """Return a table as the bytes of a Parquet file."""
    buffer = io.BytesIO()
    pq.write_table(table, buffer, compression="zstd")
    return buffer.getvalue()


def samples_table(samples: pd.DataFrame) -> pa.Table:
    """Return the samples as an Arrow table in the store's schema."""
    own = [name for name in identity_columns(samples) if name not in IDENTITY]
    columns = {
        name: samples[name] if name in samples else constant(None, len(samples))
        for name in SAMPLES.names
        if name != _OTHER
    }
    frame = pd.DataFrame(columns, index=samples.index, copy=False)
    frame[_OTHER] = _pack(samples, own) if own else constant(None, len(samples))
    return pa.Table.from_pandas(frame[SAMPLES.names], preserve_index=False).cast(SAMPLES)


def with_own_dictionaries(table: pa.Table) -> pa.Table:
    """Remove unused values from dictionaries, because the table may be a part of a larger one."""
    for number, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            texts = table.column(number).cast(field.type.value_type)
            table = table.set_column(number, field, texts.dictionary_encode())
    return table


def _pack(samples: pd.DataFrame, own: list[str]) -> pd.Series[Any]:
    """Return one JSON text for each combination of the file's other identity columns."""
    code = samples.groupby(own, dropna=False, observed=True, sort=False).ngroup()
    combinations = samples[own].assign(code=code).drop_duplicates("code").set_index("code")
    texts = {
        code: json.dumps({name: value for name, value in row.items() if isinstance(value, str)})
        for code, row in combinations.to_dict("index").items()
    }
    return code.map(texts).astype("category")


def samples_frame(table: pa.Table) -> pd.DataFrame:
    """Return samples in the form of `Measurements`, without identity columns that no run has."""
    table = table.unify_dictionaries()
    frame: pd.DataFrame = table.select(SAMPLES.names).to_pandas()
    site = table.column("site").dictionary_encode().unify_dictionaries()
    frame["site"] = pd.Series(site.to_pandas())
    other = frame.pop(_OTHER)
    unpacked = [json.loads(text) for text in other.cat.categories]
    for name in dict.fromkeys(key for entry in unpacked for key in entry):
        values = pd.Series([entry.get(name) for entry in unpacked], dtype="object")
        frame[name] = pd.Categorical(values.reindex(other.cat.codes).to_numpy())
    identity = [name for name in identity_columns(frame) if frame[name].notna().any()]
    return frame[[*identity, *MEASURES]]


def partition_text(value: Any) -> str:
    """Return the name of a partition's folder for one value, in Hive's notation."""
    return quote(value, safe="") if isinstance(value, str) else _NO_VALUE


def equals(wanted: dict[str, str], known: list[str]) -> Any:
    """Return Arrow's filter expression; raises InputError for a column that cannot be used."""
    condition = None
    for name, value in wanted.items():
        if name not in known:
            raise InputError(
                name, f"is not a column of the store; use one of {', '.join(sorted(known))}"
            )
        term = ds.field(name) == value
        condition = term if condition is None else condition & term
    return condition
