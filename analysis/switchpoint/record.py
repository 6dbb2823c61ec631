"""Reads run records: a JSON header, CSV samples, a JSON footer (docs/reference/run-record.md).

Importing this module is cheap (no pandas), so that ReFrame's sanity functions can use `read_facts`.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from switchpoint.activity import activity_problem
from switchpoint.errors import RecordError

if TYPE_CHECKING:
    import pandas as pd

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
    data = _content(path)
    header_line, _, _ = data.partition(b"\n")
    header = _parse_header(path, header_line)
    body, footer_line = _split_footer(data[len(header_line) + 1 :])
    footer = _parse_footer(path, footer_line)
    samples = _parse_samples(path, header, body)
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


def _content(path: Path) -> bytes:
    with open_maybe_gzip(path) as stream:
        return _guarded_read(path, stream, -1)


def _guarded_read(path: Path, stream: io.BufferedIOBase, count: int) -> bytes:
    try:
        return stream.read(count)
    except (OSError, EOFError) as error:  # a gzip cut short cannot be trusted row by row
        raise RecordError(path, f"cannot be read ({error}); copy it again") from None


def _first_line(path: Path) -> bytes:
    with open_maybe_gzip(path) as stream:
        try:
            return stream.readline(_LONGEST_END).rstrip(b"\n")
        except (OSError, EOFError) as error:
            raise RecordError(path, f"cannot be read ({error}); copy it again") from None


def _last_line(path: Path) -> bytes:
    with open_maybe_gzip(path) as stream:
        if not isinstance(stream, io.BufferedReader):  # gzip has no cheap way to its end
            return _split_footer(_guarded_read(path, stream, -1))[1]
        length = stream.seek(0, os.SEEK_END)
        tail, step = b"", 2**16
        while len(tail) < length and tail.rstrip(b"\n").count(b"\n") == 0:
            start = max(0, length - step)
            stream.seek(start)
            tail = stream.read(length - start)
            step *= 8
    return _split_footer(tail)[1]


def _split_footer(rest: bytes) -> tuple[memoryview, bytes]:
    """Separate complete CSV rows from the footer line, which is empty if the record has none."""
    end = len(rest.rstrip(b"\n"))
    start = rest.rfind(b"\n", 0, end) + 1
    if rest[start : start + 1] == b"{":
        return memoryview(rest)[:start], rest[start:end]
    # Truncated: a last row without its newline may have lost digits, so it goes.
    return memoryview(rest)[: rest.rfind(b"\n") + 1], b""


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


def _parse_samples(path: Path, header: dict[str, Any], body: memoryview) -> pd.DataFrame:
    import pyarrow as pa
    from pyarrow import csv

    columns = header["columns"]
    types = {name: SAMPLE_TYPES.get(name, "float64") for name in columns}
    types["mode"] = pa.dictionary(pa.int32(), pa.string())
    heading = bytes(body[: bytes(body[:4096]).find(b"\n") + 1]).decode(errors="replace").strip()
    if heading.split(",") != columns:
        if not heading:  # truncated before the first row
            body = memoryview(",".join(columns).encode() + b"\n")
        else:
            raise RecordError(
                path, f"the CSV heading {heading[:80]!r} differs from the header's columns", 2
            )

    def parse(threads: bool) -> pa.Table:
        return csv.read_csv(
            pa.BufferReader(pa.py_buffer(body)),
            read_options=csv.ReadOptions(use_threads=threads, block_size=4 * 2**20),
            convert_options=csv.ConvertOptions(
                column_types=types, null_values=[], strings_can_be_null=False
            ),
        )

    try:
        table = parse(threads=True)
    except (pa.ArrowInvalid, pa.ArrowKeyError):
        table = _parse_again_for_line(path, parse)
    samples: pd.DataFrame = table.to_pandas()
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
    return samples


def _parse_again_for_line(path: Path, parse: Any) -> Any:
    """Parse without threads, which is slower and lets Arrow name the row at fault."""
    import pyarrow as pa

    try:
        return parse(threads=False)
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
    errors = footer.get("verification", {}).get("errors", 0)
    if errors:
        return [f"{run}: {errors} payloads arrived damaged; do not trust this run's times"]
    return []
