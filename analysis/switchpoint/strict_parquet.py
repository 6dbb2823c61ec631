"""Reads Parquet of unknown origin, of which some kilobytes can contain gigabytes of text.

A dictionary contains a text once, however many rows have it. So texts stay dictionaries until it is
known how long those of all rows are together.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from switchpoint.limits import PARQUET_BYTES

#: Rows that are read, and then counted, at once.
_ROWS = 2**14

_LONG = f"its columns have more than {PARQUET_BYTES // 2**20} MiB"


class TooLargeError(ValueError):
    """A table has more cells or longer texts than are read."""


def read_parquet(content: bytes, most_cells: int) -> pa.Table:
    """Read a table of texts and numbers. Its texts stay dictionaries.

    Raises
    ------
    ValueError
        If it contains anything else, or is larger than the limits (TooLargeError).
    pyarrow.ArrowException, OSError
        If it is not Parquet.
    """
    source = pa.BufferReader(content)
    file = pq.ParquetFile(source)
    schema = file.schema_arrow
    if file.metadata.num_rows * file.metadata.num_columns > most_cells:
        raise TooLargeError(f"it has more than {most_cells:,} cells")
    for field in schema:
        if not (_is_text(field.type) or _is_plain(field.type)):
            raise ValueError(f"the column {field.name} contains neither texts nor numbers")
    batches = list(_batches(file, source, set(schema.names)))
    return pa.Table.from_batches(batches).unify_dictionaries() if batches else schema.empty_table()


def check_texts(source: Any, names: Collection[str]) -> None:
    """Raise TooLargeError if the texts in some columns of a file are longer than the limit.

    It may raise pyarrow.ArrowException and OSError too.
    """
    file = pq.ParquetFile(source)
    texts = {field.name for field in file.schema_arrow if _is_text(field.type)}
    for _ in _batches(file, source, texts & {*names}):
        pass


def _batches(file: pq.ParquetFile, source: Any, names: set[str]) -> Iterator[pa.RecordBatch]:
    """Yield the rows of some columns until they are too large."""
    if not names:
        return
    metadata = file.metadata
    groups = (metadata.row_group(number) for number in range(metadata.num_row_groups))
    columns = (group.column(number) for group in groups for number in range(group.num_columns))
    size_bytes = sum(one.total_uncompressed_size for one in columns if one.path_in_schema in names)
    _check(size_bytes)
    # A footer may say less than the pages contain, so these are counted while they are read.
    texts = [field.name for field in file.schema_arrow if _is_text(field.type)]
    reader = pq.ParquetFile(source, metadata=metadata, read_dictionary=texts)
    size_bytes = 0
    for batch in reader.iter_batches(_ROWS, columns=sorted(names)):
        size_bytes += sum(_decoded_bytes(column) for column in batch.columns)
        _check(size_bytes)
        yield batch


def _check(size_bytes: int) -> None:
    if size_bytes > PARQUET_BYTES:
        raise TooLargeError(_LONG)


def _decoded_bytes(column: pa.Array) -> int:
    """Return the bytes of a column in memory, and of its texts if each row had its own."""
    if not pa.types.is_dictionary(column.type):
        return int(column.nbytes)
    lengths = pc.binary_length(column.dictionary).take(column.indices)
    return int(column.nbytes) + (pc.sum(lengths.cast(pa.int64())).as_py() or 0)


def _is_text(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _is_plain(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_boolean(kind)
        or pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_null(kind)
    )
