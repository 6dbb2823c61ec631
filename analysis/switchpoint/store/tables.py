"""The store's tables in Arrow: their schemas, and the conversion of pandas' tables."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from switchpoint.store.checksums import announced, sealed
from switchpoint.tables.columns import (
    CURVE_COLUMNS,
    MEASURES,
    RESERVED,
    RUN_COLUMNS,
    VALUE_COLUMNS,
    identity_columns,
)
from switchpoint.tables.identity import IDENTITY
from switchpoint.tables.measurements import constant
from switchpoint.tables.validity import labels_in

#: Hive's name for null, which Arrow reads back as null.
_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"

#: Texts that repeat: pandas' categories.
TEXT = pa.dictionary(pa.int32(), pa.string())

#: Identity columns of other tools are one JSON text, so that all files have the same schema.
OTHER_IDENTITY = "other_identity"

_IDENTITY = [*((name, TEXT) for name in IDENTITY), (OTHER_IDENTITY, TEXT)]
_TYPES = {"size_bytes": pa.int64(), "iterations": pa.int64(), "count": pa.int64(),
          "pass": pa.int32(), "sample": pa.int32()}  # fmt: skip


def _numbers(names: list[str]) -> list[tuple[str, pa.DataType]]:
    return [(name, _TYPES.get(name, pa.float64())) for name in names]


SAMPLES = pa.schema([*_IDENTITY, *_numbers(MEASURES)])
CURVES = pa.schema([*_IDENTITY, *_numbers(CURVE_COLUMNS)])

#: The large columns of runs are a table of their own, so that a query of runs does not read them.
LARGE = ["header", "footer", "lock"]
FACTS = pa.schema([("run_id", pa.string()), *((name, pa.string()) for name in LARGE)])

#: What a query of runs returns.
SLIM = [name for name in RUN_COLUMNS if name not in LARGE]

#: The batch as which a run was first stored, which begins with the time: joined batches keep it.
#: Null in the batch of an import: there it is the file's name.
STORED_AS = "stored_as"

RUNS = pa.schema(
    [
        *((name, pa.bool_() if name == "complete" else pa.string()) for name in SLIM),
        (STORED_AS, pa.string()),
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

#: Headers of one library are nearly the same text. Pages of this size let zstd see that.
_PAGE_BYTES = 2**24

#: Arrow decodes a whole row group even if few of its rows are wanted. Headers are long, so many of
#: them in one group would need a gigabyte.
ROWS_OF_LARGE = 1024


def parquet(table: pa.Table) -> bytes:
    """Return a table as the bytes of a Parquet file with checksums."""
    file = GrowingParquet(table.schema)
    file.add(table)
    return file.finished()


class GrowingParquet:
    """A Parquet file with checksums that takes one part of a table after the other."""

    def __init__(self, schema: pa.Schema) -> None:
        self._large = bool({*LARGE} & {*schema.names})
        numbers = [field.name for field in schema if pa.types.is_floating(field.type)]
        plain = {"header", "footer", *numbers}
        self._buffer = pa.BufferOutputStream()
        self._writer = pq.ParquetWriter(
            self._buffer,
            announced(schema),
            compression="zstd",
            write_page_checksum=True,
            use_dictionary=[name for name in schema.names if name not in plain],
            # Times seldom repeat, but their first bytes do: a quarter less than with a dictionary.
            use_byte_stream_split=numbers,
            **({"data_page_size": _PAGE_BYTES} if self._large else {}),
        )

    def add(self, table: pa.Table) -> None:
        """Append rows."""
        self._writer.write_table(table, row_group_size=ROWS_OF_LARGE if self._large else None)

    def finished(self) -> bytes:
        """Return the file's bytes; nothing can be added any more."""
        self._writer.close()
        return sealed(self._buffer.getvalue().to_pybytes())


def packed(frame: pd.DataFrame, schema: pa.Schema) -> pa.Table:
    """Return samples, or points of curves, as an Arrow table in the store's schema."""
    own = [name for name in identity_columns(frame) if name not in IDENTITY]
    columns = {
        name: frame[name] if name in frame else constant(None, len(frame))
        for name in schema.names
        if name != OTHER_IDENTITY
    }
    table = pd.DataFrame(columns, index=frame.index, copy=False)
    table[OTHER_IDENTITY] = _pack(frame, own) if own else constant(None, len(frame))
    return pa.Table.from_pandas(table[schema.names], preserve_index=False).cast(schema)


def _pack(samples: pd.DataFrame, own: list[str]) -> pd.Series[Any]:
    """Return one JSON text for each combination of the file's other identity columns."""
    code = samples.groupby(own, dropna=False, observed=True, sort=False).ngroup()
    combinations = samples[own].assign(code=code).drop_duplicates("code").set_index("code")
    texts = {
        code: json.dumps({name: value for name, value in row.items() if isinstance(value, str)})
        for code, row in combinations.to_dict("index").items()
    }
    return code.map(texts).astype("category")


def unpacked(table: pa.Table, measures: list[str]) -> pd.DataFrame:
    """Return samples or points with pandas' columns, without identity that no run has."""
    frame: pd.DataFrame = table.unify_dictionaries().to_pandas()
    other = frame.pop(OTHER_IDENTITY)
    # A category may be the text of rows that were not wanted, and then nothing has checked it.
    entries = [labels_in(text) or {} for text in other.cat.categories]
    for name in dict.fromkeys(key for entry in entries for key in entry):
        values = pd.Series([entry.get(name) for entry in entries], dtype="object")
        # It was stored when no column of numbers had this name.
        column = f"label_{name}" if name in RESERVED else name
        frame[column] = pd.Categorical(values.reindex(other.cat.codes).to_numpy())
    known = {name for name in frame if name == "run_id" or frame[name].notna().any()}
    identity = [name for name in identity_columns(frame) if name in known]
    return frame[[*identity, *measures]]


def unpacked_points(table: pa.Table) -> pd.DataFrame:
    """Return points with pandas' columns; one that another program wrote twice counts once."""
    points = unpacked(table, CURVE_COLUMNS)
    return points.drop_duplicates([*identity_columns(points), "size_bytes"], ignore_index=True)


def partition_text(value: Any) -> str:
    """Return the name of a partition's folder for one value, in Hive's notation."""
    return quote(value, safe="") if isinstance(value, str) else _NO_VALUE
