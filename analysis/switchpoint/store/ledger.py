"""A table to which rows are only added: parameters of curves, findings, or verdicts of the gate.

Its columns may grow: each file has those of its rows, and a reader gets all of them. A row counts
once, whoever adds it again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from datetime import datetime, timezone
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from switchpoint.data_warnings import DataWarning
from switchpoint.store.batches import UNDATED, batch_name, path
from switchpoint.store.files import StoreFiles
from switchpoint.store.mark import check_mark, set_mark
from switchpoint.store.not_taken import noted
from switchpoint.store.scan import FILE, Loss, failures, scan, unread, unusable
from switchpoint.store.tables import TEXT, parquet
from switchpoint.store.wanted import Query, Wanted

#: Identity of a row: a hash of its content.
ROW = "row_id"

_LOST = Loss("its rows are left out", "Remove the file")


class Ledger:
    """A table of a store to which rows are only added.

    Parameters
    ----------
    files
        The store.
    name
        Its folder in the store.
    time
        The column with a time in UTC (ISO 8601), whose month is the folder of the row.
    text
        Arrow's type of its texts: with `TEXT` they are read as pandas' categories.
    """

    def __init__(self, files: StoreFiles, name: str, time: str, text: pa.DataType) -> None:
        self._files, self.name, self._time, self._text = files, name, time, text

    def keep(self, frame: pd.DataFrame) -> int:
        """Add those rows that are not there yet, and return their number.

        Parameters
        ----------
        frame
            Columns of text, numbers and truth values. Without a column of the time, that is now.
        """
        if frame.empty:
            return 0
        set_mark(self._files)
        table = self._typed(frame.drop(columns=ROW, errors="ignore"))
        table = table.append_column(ROW, pa.array(_content(table)))
        dated = self._time in table.schema.names
        if not dated:
            times = pa.array([now_utc()] * len(table), pa.string())
            table = table.append_column(self._time, times.cast(self._text))
        added, name = 0, batch_name()
        for month, part in _by_month(table, self._time):
            known = self._known(f"{self.name}/month={month}" if dated else self.name)
            rows = pd.Series(part[ROW].to_numpy())
            fresh = part.filter(pa.array(~rows.isin(known) & ~rows.duplicated()))
            if len(fresh):
                self.write(f"month={month}/{name}", fresh)
                added += len(fresh)
        return added

    def read(self, query: Mapping[str, Query], columns: list[str] | None = None) -> pd.DataFrame:
        """Read the wanted rows, in the order of their time.

        Its `attrs["not_taken"]` lists what could not be read.
        """
        check_mark(self._files)
        table, damaged = self.rows(self.paths(), Wanted.of(query, self._time), columns)
        frame: pd.DataFrame
        if len(table):
            table = _in_order(table.unify_dictionaries(), self._time)
        shown = [name for name in columns or table.schema.names if name in table.schema.names]
        table = table.select([name for name in shown if name != ROW])
        frame = table.to_pandas(split_blocks=True, self_destruct=True)
        return noted(frame, damaged)

    def paths(self) -> list[str]:
        """Return its files, oldest first in each month."""
        return self._files.below(self.name)

    def rows(
        self, paths: list[str], wanted: Wanted, columns: list[str] | None = None
    ) -> tuple[pa.Table, list[DataWarning]]:
        """Return the wanted rows of some files, each once, and what could not be read.

        `columns` are needed at least; by default all.
        """
        schema, sound, damaged = self._schema(wanted.files(paths))
        if not sound:
            return schema.empty_table(), damaged
        condition = wanted.condition(set(schema.names) - {ROW})
        if columns is not None:
            used = {*columns, *wanted.equal, self._time, ROW}
            schema = pa.schema([field for field in schema if field.name in used])
        table, lost = scan(self._files, sound, schema, condition, loss=_LOST)
        again = pd.Series(table[ROW].to_numpy()).duplicated()
        return (table.filter(pa.array(~again)) if again.any() else table), [*damaged, *lost]

    def counts(
        self, column: str, query: Mapping[str, Query]
    ) -> tuple[pd.DataFrame, list[DataWarning]]:
        """Count the wanted rows of each file (`file`) and text of a column as `rows`."""
        wanted = Wanted.of(query, self._time)
        schema, sound, damaged = self._schema(wanted.files(self.paths()))
        if column not in schema.names:
            schema = schema.append(pa.field(column, pa.string()))
        table, lost = scan(
            self._files, sound, schema, wanted.condition(schema.names), with_file=True, loss=_LOST
        )
        rows = pd.DataFrame(
            {"file": table[FILE].to_pandas(), column: table[column].cast(pa.string()).to_pandas()}
        )
        counts = rows.groupby(["file", column], dropna=False, as_index=False).size()
        return counts.rename(columns={"size": "rows"}), [*damaged, *lost]

    def write(self, batch: str, table: pa.Table) -> None:
        """Add a file."""
        self._files.write(path(self._files, self.name, batch), parquet(table))

    def _known(self, folder: str) -> npt.NDArray[np.uint64]:
        """Return the identities of the rows below a folder."""
        schema, sound, _ = self._schema(self._files.below(folder))
        if not sound:
            return np.empty(0, np.uint64)
        table, _ = scan(self._files, sound, pa.schema([schema.field(ROW)]))
        return np.asarray(table[ROW].to_numpy(), dtype=np.uint64)

    def _schema(self, paths: list[str]) -> tuple[pa.Schema, list[str], list[DataWarning]]:
        """Return the columns of some files together, the sound files, and what is wrong."""
        unified, sound = pa.schema([]), []
        wrong: list[DataWarning] = []
        for name in paths:
            try:
                with self._files.open(name) as stream:
                    schema = pq.read_schema(stream).remove_metadata()
                if ROW not in schema.names:
                    wrong.append(unread(name, "is not a file of a store; remove it"))
                    continue
                unified = pa.unify_schemas([unified, schema], promote_options="permissive")
                sound.append(name)
            except failures(self._files) as error:
                wrong.append(unusable(self._files, name, error, _LOST))
        return unified, sound, wrong

    def _typed(self, frame: pd.DataFrame) -> pa.Table:
        """Return a table with three types of columns: text, number and truth value."""
        table = pa.Table.from_pandas(frame, preserve_index=False)
        table = table.drop_columns([one.name for one in table.schema if _is_empty(one.type)])
        fields = [pa.field(field.name, self._type(field)) for field in table.schema]
        return table.replace_schema_metadata(None).cast(pa.schema(fields))

    def _type(self, field: pa.Field) -> pa.DataType:
        own = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        if pa.types.is_string(own) or pa.types.is_large_string(own):
            return self._text
        for is_type, stored in (
            (pa.types.is_boolean, pa.bool_()),
            (pa.types.is_integer, pa.int64()),
            (pa.types.is_floating, pa.float64()),
        ):
            if is_type(own):
                return stored
        raise TypeError(
            f"column '{field.name}' of {self.name} has the type {own}; write it as JSON text"
        )


def ledgers(files: StoreFiles) -> dict[str, Ledger]:
    """Return the ledgers of a store by their names."""
    return {
        "parameters": Ledger(files, "parameters", "start_utc", TEXT),
        "findings": Ledger(files, "findings", "time_utc", pa.string()),
        "verdicts": Ledger(files, "verdicts", "time_utc", pa.string()),
    }


def _is_empty(column: pa.DataType) -> bool:
    """Return whether a column has no value, so that its type is not known."""
    return bool(
        pa.types.is_null(column)
        or (pa.types.is_dictionary(column) and pa.types.is_null(column.value_type))
    )


def _content(table: pa.Table) -> npt.NDArray[np.uint64]:
    """Return a hash of each row's content. Columns without a value do not count."""
    digest = np.zeros(len(table), np.uint64)
    for name in table.schema.names:
        column = table[name]
        text = pa.types.is_dictionary(column.type) or pa.types.is_string(column.type)
        values: pd.Series[Any] = (column if text else column.cast(pa.float64())).to_pandas()
        own = pd.util.hash_pandas_object(values, index=False).to_numpy()
        salt = np.uint64(int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "little"))
        digest += np.where(values.isna(), np.uint64(0), pd.util.hash_array(own ^ salt))
    return digest


def _in_order(table: pa.Table, time: str) -> pa.Table:
    """Sort rows by their time, if they are not."""
    texts = pd.Categorical(table[time].to_pandas())
    codes = texts.reorder_categories(sorted(texts.categories)).codes
    if (codes[1:] >= codes[:-1]).all():
        return table
    return table.take(pa.array(np.argsort(codes, kind="stable")))


def _by_month(table: pa.Table, time: str) -> Iterator[tuple[str, pa.Table]]:
    """Split by the month of a column."""
    months = table[time].to_pandas().astype("str").str[:7]
    dated = months.str.fullmatch(r"\d{4}-\d\d").fillna(value=False).astype(bool)
    months = months.where(dated, UNDATED).reset_index(drop=True)
    for month, part in months.groupby(months):
        yield str(month), table if len(part) == len(months) else table.take(pa.array(part.index))


def now_utc() -> str:
    """Return the time of now as text (ISO 8601)."""
    return f"{datetime.now(timezone.utc):%Y-%m-%dT%H:%M:%S.%fZ}"
