"""Parses a record's samples, a part of the file at a time."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from switchpoint.errors import RecordError

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
from switchpoint.records.lines import (
    LONGEST_END,
    guarded,
    open_maybe_gzip,
    split_footer,
    split_last_line,
)

#: Columns of every record and their Arrow types; a kernel's own columns after these are decimals.
SAMPLE_TYPES = {
    "mode": "string",
    "size_bytes": "int64",
    "pass": "int32",
    "sample": "int32",
    "iterations": "int64",
    "time_us": "float64",
}

_PART_BYTES = 4 * 2**20  # read and parsed together


def parse_samples(path: Path, header: dict[str, Any]) -> tuple[pd.DataFrame, bytes]:
    """Samples, and the footer line; memory holds little more than the samples."""
    import pyarrow as pa

    try:
        table, footer_line = _parse_rows(path, header, threads=True)
    except (pa.ArrowInvalid, pa.ArrowKeyError):
        table, footer_line = _parse_again_for_line(path, header)
    samples: pd.DataFrame = table.to_pandas(split_blocks=True, self_destruct=True)
    bad = ~(samples["time_us"].gt(0) & samples["time_us"].lt(float("inf")))
    bad |= samples["size_bytes"] < 0
    if bad.any():
        row = int(bad.to_numpy().argmax())
        raise RecordError(
            path,
            f"size {samples['size_bytes'].iloc[row]} B with time {samples['time_us'].iloc[row]} us"
            " cannot be; times are positive numbers: remove the row or measure again",
            row + 3,
        )
    return samples, footer_line


def _parse_rows(path: Path, header: dict[str, Any], threads: bool) -> tuple[pa.Table, bytes]:
    import pyarrow as pa
    from pyarrow import csv

    types = {name: SAMPLE_TYPES.get(name, "float64") for name in header["columns"]}
    types["mode"] = pa.dictionary(pa.int32(), pa.string())
    with open_maybe_gzip(path) as stream:
        rows = _Rows(path, stream, header["columns"])
        table = csv.read_csv(
            pa.PythonFile(rows, mode="r"),
            read_options=csv.ReadOptions(use_threads=threads, block_size=_PART_BYTES),
            convert_options=csv.ConvertOptions(
                column_types=types, null_values=[], strings_can_be_null=False
            ),
        )
    return table, rows.footer


class _Rows(io.RawIOBase):
    """A record's CSV, heading first, as a stream that ends before the footer.

    Attributes
    ----------
    footer : bytes
        Once the stream has ended: the footer line, empty if the record has none.
    """

    def __init__(self, path: Path, stream: io.BufferedIOBase, columns: list[str]) -> None:
        """Pass the header and the heading by; raises RecordError if that has other columns."""
        super().__init__()
        self.footer = b""
        self._path, self._stream = path, stream
        guarded(path, stream.readline, LONGEST_END)
        line = guarded(path, stream.readline, LONGEST_END)
        heading = ",".join(columns).encode()
        if line.startswith(b"{") or not line.endswith(b"\n"):  # truncated before the first row
            self._kept = heading + b"\n" + line * line.startswith(b"{")
        elif line.rstrip() == heading:
            self._kept = line
        else:
            shown = line.decode(errors="replace").strip()[:80]
            raise RecordError(
                path, f"the CSV heading {shown!r} differs from the header's columns", 2
            )

    def readable(self) -> bool:
        """Tell Arrow that it may read."""
        return True

    def read(self, _size: int = -1) -> bytes:
        """Return the next complete rows, as many as come at once, and nothing at the end."""
        while part := guarded(self._path, self._stream.read, _PART_BYTES):
            rows, self._kept = split_last_line(self._kept + part)
            if rows:
                return rows
        rows, footer = split_footer(self._kept)
        self._kept, self.footer = b"", self.footer or footer
        return rows


def _parse_again_for_line(path: Path, header: dict[str, Any]) -> tuple[pa.Table, bytes]:
    """Parse without threads, which is slower and lets Arrow name the row at fault."""
    import pyarrow as pa

    try:
        return _parse_rows(path, header, threads=False)
    except (pa.ArrowInvalid, pa.ArrowKeyError) as error:
        text = str(error)
        row = re.search(r"Row #(\d+)", text)
        problem = text.split("CSV parse error: ")[-1].split(f"{row[0]}: " if row else "\0")[-1]
        problem = problem.splitlines()[0].replace("CSV conversion error to", "no valid")
        raise RecordError(
            path,
            f"malformed row ({problem[:120]}); remove it or measure again",
            int(row[1]) + 1 if row else None,  # the header line is not part of the CSV
        ) from None
