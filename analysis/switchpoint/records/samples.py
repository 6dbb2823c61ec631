"""Parses a record's samples, a part of the file at a time."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from switchpoint.errors import RecordError
from switchpoint.limits import COUNT, LONGEST_US, RECORD_ROWS, SHORTEST_US
from switchpoint.records.lines import (
    LONGEST_END,
    check_size,
    guarded,
    open_maybe_gzip,
    split_footer,
    split_last_line,
)

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from switchpoint.records.header import Header

#: Columns of every record with their Arrow types. A kernel's own columns follow and are decimals.
SAMPLE_TYPES = {
    "mode": "string",
    "size_bytes": "int64",
    "pass": "int32",
    "sample": "int32",
    "iterations": "int64",
    "time_us": "float64",
}

#: Read and parsed together; Arrow's threads share it in blocks.
_PART_BYTES = 16 * 2**20
_BLOCK_BYTES = 4 * 2**20

#: Lines before the first row: header and heading.
_LINES_BEFORE = 2


def parse_samples(path: Path, header: Header) -> tuple[pd.DataFrame, bytes]:
    """Return the samples and the footer line, with little more memory than the samples need."""
    import pyarrow as pa

    tables, count = [], 0
    with open_maybe_gzip(path) as stream:
        rows = _Rows(path, stream, header["columns"])
        for part in rows:
            tables.append(_parse(path, part, header["columns"], count))
            count += len(tables[-1])
            if count > RECORD_ROWS:
                raise RecordError(
                    path, f"has more than {RECORD_ROWS:,} rows; measure with a smaller --kept"
                )
    if not tables:
        tables = [pa.schema(list(_types(header["columns"]).items())).empty_table()]
    table = pa.concat_tables(tables).unify_dictionaries()
    del tables
    samples: pd.DataFrame = table.to_pandas(split_blocks=True, self_destruct=True)
    _check(path, samples)
    return samples, rows.footer


def _check(path: Path, samples: pd.DataFrame) -> None:
    """Raise RecordError at the first row with a value that no kernel measures."""
    possible = samples["time_us"].between(SHORTEST_US, LONGEST_US)
    possible &= samples["size_bytes"].between(0, COUNT - 1)
    possible &= samples["iterations"].between(1, COUNT - 1)
    possible &= (samples["pass"] >= 0) & (samples["sample"] >= 0)
    if possible.all():
        return
    row = int((~possible).to_numpy().argmax())
    values = {name: samples[name].iloc[row] for name in SAMPLE_TYPES}
    raise RecordError(
        path,
        f"size {values['size_bytes']} B with time {values['time_us']} us (pass {values['pass']},"
        f" sample {values['sample']}, {values['iterations']} iterations) is impossible; times are"
        " positive numbers: remove the row or measure again",
        row + _LINES_BEFORE + 1,
    )


def _types(columns: list[str]) -> dict[str, pa.DataType]:
    import pyarrow as pa

    types = {name: SAMPLE_TYPES.get(name, "float64") for name in columns}
    return {name: pa.type_for_alias(alias) for name, alias in types.items()} | {
        "mode": pa.dictionary(pa.int32(), pa.string())
    }


def _parse(path: Path, part: bytes, columns: list[str], rows_before: int) -> pa.Table:
    """Parse some rows; raises RecordError, which names the wrong row."""
    import pyarrow as pa

    try:
        return _parse_rows(part, columns, threads=True)
    except (pa.ArrowInvalid, pa.ArrowKeyError):
        pass
    try:  # slower, but Arrow then names the wrong row
        return _parse_rows(part, columns, threads=False)
    except (pa.ArrowInvalid, pa.ArrowKeyError) as error:
        text = str(error)
        row = re.search(r"Row #(\d+)", text)
        problem = text.split("CSV parse error: ")[-1].split(f"{row[0]}: " if row else "\0")[-1]
        problem = problem.splitlines()[0].replace("CSV conversion error to", "no valid")
        raise RecordError(
            path,
            f"malformed row ({problem[:120]}); remove it or measure again",
            rows_before + int(row[1]) + _LINES_BEFORE if row else None,
        ) from None


def _parse_rows(part: bytes, columns: list[str], threads: bool) -> pa.Table:
    import pyarrow as pa
    from pyarrow import csv

    # Arrow's threads may drop their input after `read_csv` has returned. If it were Python's, they
    # would wait for the interpreter, and a program that ends in that moment would abort.
    memory = pa.BufferOutputStream()
    memory.write(part)
    return csv.read_csv(
        pa.BufferReader(memory.getvalue()),
        read_options=csv.ReadOptions(
            use_threads=threads, block_size=_BLOCK_BYTES, column_names=columns
        ),
        convert_options=csv.ConvertOptions(
            column_types=_types(columns), null_values=[], strings_can_be_null=False
        ),
    )


class _Rows:
    """A record's rows in parts that end before the footer.

    Attributes
    ----------
    footer : bytes
        The footer line after the last part; empty if the record has none.
    """

    def __init__(self, path: Path, stream: io.BufferedIOBase, columns: list[str]) -> None:
        """Skip the header and the heading; raises RecordError if the heading has other columns."""
        self.footer = b""
        self._path, self._stream = path, stream
        guarded(path, stream.readline, LONGEST_END)
        line = guarded(path, stream.readline, LONGEST_END)
        if line.startswith(b"{"):  # truncated before the heading, or without rows
            self._kept = line
        elif not line.endswith(b"\n") or line.rstrip() == ",".join(columns).encode():
            self._kept = b""
        else:
            shown = line.decode(errors="replace").strip()[:80]
            raise RecordError(
                path, f"the CSV heading {shown!r} differs from the header's columns", 2
            )

    def __iter__(self) -> Iterator[bytes]:
        """Yield complete rows, as many as fit into a part."""
        kept, size_bytes = self._kept, 0
        while part := guarded(self._path, self._stream.read, _PART_BYTES):
            size_bytes += len(part)
            check_size(self._path, size_bytes)
            rows, kept = split_last_line(kept + part)
            if len(kept) > LONGEST_END:
                raise RecordError(self._path, "contains a row that does not end; measure again")
            if rows.strip():
                yield rows
        rows, self.footer = split_footer(kept)
        if rows.strip():
            yield rows
