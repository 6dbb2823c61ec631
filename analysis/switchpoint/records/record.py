"""Reads run records: a JSON header, CSV samples, a JSON footer (docs/reference/run-record.md).

Importing this module is cheap (no pandas), so that ReFrame's sanity functions can use `read_facts`.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from switchpoint.errors import RecordError
from switchpoint.records.activity import activity_problem

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

SCHEMA = 1

#: Columns of every record and their Arrow types; a kernel's own columns after these are decimals.
SAMPLE_TYPES = {
    "mode": "string",
    "size_bytes": "int64",
    "pass": "int32",
    "sample": "int32",
    "iterations": "int64",
    "time_us": "float64",
}

_REQUIRED: dict[str, type | tuple[type, ...]] = {
    "run_id": str,
    "start_utc": str,
    "kernel": dict,
    "labels": dict,
    "plan": dict,
    "clock": dict,
    "mpi": dict,
    "ranks": list,
    "columns": list,
}

_GZIP_MAGIC = b"\x1f\x8b"
_LONGEST_END = 64 * 2**20  # bytes; a header or footer beyond this is not one of ours
_PART_BYTES = 4 * 2**20  # read and parsed together


@dataclass
class Facts:
    """Everything in a record but its samples.

    Attributes
    ----------
    path : Path
    header, footer : dict
        As documented; `footer` is None when the record is truncated.
    warnings : list of str
        What a reader should know before trusting the numbers, one sentence each.
    """

    path: Path
    header: dict[str, Any]
    footer: dict[str, Any] | None
    warnings: list[str] = field(default_factory=list)

    @property
    def run_id(self) -> str:
        """Identity of the run: 32 hexadecimal digits."""
        return str(self.header["run_id"])

    @property
    def complete(self) -> bool:
        """Whether the end marker was found."""
        return self.footer is not None


@dataclass
class Record(Facts):
    """A whole record: `Facts` and the samples (one row per sample, columns of the header)."""

    samples: pd.DataFrame = field(kw_only=True)


def read_record(path: str | os.PathLike[str]) -> Record:
    """Read a run record, plain or gzipped.

    Parameters
    ----------
    path
        The record's file.

    Returns
    -------
    Record
        Of a truncated record the complete rows, with a warning.

    Raises
    ------
    RecordError
        If the file is missing, empty, binary, not a record, of a newer schema, or has a bad row.
    """
    path = Path(path)
    header = read_header(path)
    samples, footer_line = _parse_samples(path, header)
    footer = _parse_footer(path, footer_line)
    warnings = _judge(header, footer)
    if footer is not None and footer["samples"] != len(samples):
        warnings.append(
            f"{path}: the footer counts {footer['samples']} samples, the file holds {len(samples)};"
            " it was edited or damaged: measure again before relying on it"
        )
    if footer is None:
        warnings.insert(0, _truncated(path, len(samples)))
    return Record(path, header, footer, warnings, samples=samples)


def read_facts(path: str | os.PathLike[str]) -> Facts:
    """Read a record's header and footer without its samples, in a time independent of them.

    Raises
    ------
    RecordError
        As `read_record`, rows aside.
    """
    path = Path(path)
    header = _parse_header(path, _first_line(path))
    footer = _parse_footer(path, _last_line(path))
    warnings = _judge(header, footer)
    if footer is None:
        warnings.insert(0, _truncated(path, None))
    return Facts(path, header, footer, warnings)


def read_header(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read only a record's header, checked; raises RecordError as `read_record`."""
    path = Path(path)
    return _parse_header(path, _first_line(path))


def is_record(head: bytes) -> bool:
    """Tell whether a file that begins with `head` says that it is a run record."""
    return head.lstrip().startswith(b"{") and re.search(rb'"record"\s*:\s*"', head) is not None


def open_maybe_gzip(path: Path) -> io.BufferedIOBase:
    """Open for reading bytes, unpacking gzip by its magic number; raises RecordError."""
    try:
        stream = path.open("rb")
    except OSError as error:
        raise RecordError(path, f"{error.strerror}; check the path") from None
    if stream.peek(2)[:2] == _GZIP_MAGIC:
        return gzip.open(stream)
    return stream


def _guarded(path: Path, read: Callable[[int], bytes], count: int) -> bytes:
    try:
        return read(count)
    except (OSError, EOFError) as error:  # a gzip cut short cannot be trusted row by row
        raise RecordError(path, f"cannot be read ({error}); copy it again") from None


def _first_line(path: Path) -> bytes:
    with open_maybe_gzip(path) as stream:
        return _guarded(path, stream.readline, _LONGEST_END).rstrip(b"\n")


def _last_line(path: Path) -> bytes:
    with open_maybe_gzip(path) as stream:
        if not isinstance(stream, io.BufferedReader):  # gzip has no cheap way to its end
            return _split_footer(_guarded(path, stream.read, -1))[1]
        length = stream.seek(0, os.SEEK_END)
        tail, step = b"", 2**16
        while len(tail) < length and tail.rstrip(b"\n").count(b"\n") == 0:
            start = max(0, length - step)
            stream.seek(start)
            tail = stream.read(length - start)
            step *= 8
    return _split_footer(tail)[1]


def _split_last_line(text: bytes) -> tuple[bytes, bytes]:
    """Separate the last line, with the line ends after it."""
    start = text.rfind(b"\n", 0, len(text.rstrip(b"\n"))) + 1
    return text[:start], text[start:]


def _split_footer(rest: bytes) -> tuple[bytes, bytes]:
    """Separate complete CSV rows from the footer line, which is empty if the record has none."""
    rows, last = _split_last_line(rest)
    if last.startswith(b"{"):
        return rows, last.rstrip(b"\n")
    # Truncated: a last row without its newline may have lost digits, so it goes.
    return rest[: rest.rfind(b"\n") + 1], b""


def _parse_header(path: Path, line: bytes) -> dict[str, Any]:
    if not line.strip():
        empty = path.stat().st_size == 0
        problem = "is empty" if empty else "begins with an empty line, so it is no run record"
        raise RecordError(path, f"{problem}; measure again, or remove it")
    if b"\0" in line or len(line) >= _LONGEST_END:
        raise RecordError(path, "is a binary file; give a run record (its first line is JSON)")
    try:
        header = json.loads(line)
    except (ValueError, RecursionError):
        header = None
    if not isinstance(header, dict) or header.get("record") != "switchpoint":
        raise RecordError(
            path, 'is no run record: the first line is not JSON with "record": "switchpoint"', 1
        )
    schema = header.get("schema")
    if schema != SCHEMA:
        raise RecordError(
            path,
            f"has schema {schema!r}, this Switchpoint reads schema {SCHEMA};"
            " install the version that wrote it or a newer one",
            1,
        )
    for name, kind in _REQUIRED.items():
        if not isinstance(header.get(name), kind):
            state = "is missing" if name not in header else "has the wrong type"
            raise RecordError(path, f"header field {name!r} {state}; measure again", 1)
    missing = [name for name in SAMPLE_TYPES if name not in header["columns"]]
    if missing:
        raise RecordError(path, f"header field 'columns' lacks {missing[0]!r}; measure again", 1)
    return header


def _parse_footer(path: Path, line: bytes) -> dict[str, Any] | None:
    try:
        footer = json.loads(line) if line else None
    except ValueError:
        return None
    if not isinstance(footer, dict) or footer.get("end") != "switchpoint":
        return None
    if not isinstance(footer.get("samples"), int):
        return None
    problem = activity_problem(footer)
    if problem is not None:
        raise RecordError(path, f"footer field 'activity' {problem}; measure again")
    return footer


def _parse_samples(path: Path, header: dict[str, Any]) -> tuple[pd.DataFrame, bytes]:
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
        _guarded(path, stream.readline, _LONGEST_END)
        line = _guarded(path, stream.readline, _LONGEST_END)
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
        while part := _guarded(self._path, self._stream.read, _PART_BYTES):
            rows, self._kept = _split_last_line(self._kept + part)
            if rows:
                return rows
        rows, footer = _split_footer(self._kept)
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


def _truncated(path: Path, rows: int | None) -> str:
    used = "" if rows is None else f"; its {rows} complete rows are used"
    return f"{path}: truncated, the run did not end{used}: measure again for all points"


def _judge(header: dict[str, Any], footer: dict[str, Any] | None) -> list[str]:
    if footer is None:
        return []
    run = f"run {header['run_id'][:8]}"
    warnings = []
    if errors := footer.get("verification", {}).get("errors", 0):
        warnings.append(f"{run}: {errors} payloads arrived damaged; do not trust this run's times")
    if footer.get("shortened"):
        plan = header.get("plan", {})
        warnings.append(
            f"{run}: shortened: its time budget of {plan.get('time_budget_s')} s ended the sweep"
            f" before its {plan.get('passes')} passes were done"
        )
    return warnings
