"""Bundles: curves and facts of some runs in one small file, for another site.

A ZIP file with `switchpoint-bundle.json` (what it is), `runs.parquet`, `points.parquet` and
`findings.json`. Its last 64 bytes are the SHA-256, in hexadecimal digits, of all bytes before them.
"""

from __future__ import annotations

import errno
import hashlib
import io
import json
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from switchpoint.errors import InputError
from switchpoint.importing.labels import Surroundings
from switchpoint.importing.lock import locks_problem
from switchpoint.limits import BUNDLE_BYTES, BUNDLE_CELLS, COUNT
from switchpoint.printable import path_text
from switchpoint.records.footer import footer_problem
from switchpoint.records.header import header_problem
from switchpoint.regular_files import read_limited
from switchpoint.strict_json import parse_json
from switchpoint.strict_parquet import read_parquet
from switchpoint.tables.columns import CURVE_COLUMNS, MEASURES, RUN_COLUMNS
from switchpoint.tables.measurements import Measurements, constant
from switchpoint.whole_files import write_whole

NAME = "bundles"

#: The version of the format.
SCHEMA = 1

_ABOUT = "switchpoint-bundle.json"
_RUNS, _POINTS, _FINDINGS = "runs.parquet", "points.parquet", "findings.json"

#: The start of a ZIP file whose first part is `_ABOUT`: 30 bytes of header, then the name.
_START = re.compile(rb"PK\x03\x04.{26}" + re.escape(_ABOUT.encode()), re.DOTALL)

_DIGITS = 64

#: The same content gives the same bytes: a ZIP file's earliest time.
_TIME = (1980, 1, 1, 0, 0, 0)


def write(
    path: Path,
    runs: pd.DataFrame,
    points: pd.DataFrame,
    findings: list[dict[str, Any]],
    about: Mapping[str, Any],
) -> str:
    """Write a bundle completely or not at all, and return its hash.

    Parameters
    ----------
    path
        The file.
    runs, points
        `RUN_COLUMNS`, and identity columns with `CURVE_COLUMNS`.
    findings
        As they are printed with ``--json``.
    about
        What to say of it besides.
    """
    description = {"bundle": "switchpoint", "schema": SCHEMA, **about}
    parts = {
        _ABOUT: json.dumps(description, indent=2).encode(),
        _RUNS: _parquet(runs),
        _POINTS: _parquet(points),
        _FINDINGS: json.dumps(findings).encode(),
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        archive.comment = b"0" * _DIGITS
        for name, content in parts.items():
            archive.writestr(zipfile.ZipInfo(name, _TIME), content)
    body = buffer.getvalue()[:-_DIGITS]
    digits = hashlib.sha256(body).hexdigest()
    try:
        write_whole(path, body + digits.encode())
    except OSError as error:
        raise InputError(
            path, f"cannot be written ({error.strerror}); choose another file"
        ) from None
    return digits


def recognises(head: bytes) -> bool:
    """Return whether a file is a bundle."""
    return bool(_START.match(head))


def read(path: Path, _around: Surroundings) -> Measurements:
    """Read a bundle: runs with their facts, and points without samples.

    Raises
    ------
    InputError
        If it was changed since it was made, or is of a newer version.
    """
    data = _unchanged(path)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            about = parse_json(_part(archive, _ABOUT))
            if about["schema"] != SCHEMA:
                raise InputError(
                    path,
                    f"is a bundle of schema {about['schema']}, but this version reads {SCHEMA};"
                    " install a newer Switchpoint",
                )
            runs = _runs(path, _part(archive, _RUNS))
            points = _points(_part(archive, _POINTS))
    except (
        zipfile.BadZipFile,
        pa.ArrowException,
        OSError,
        KeyError,
        TypeError,
        ValueError,
    ) as error:
        raise InputError(
            path, f"is not a bundle that can be read ({error}); ask for it again"
        ) from None
    points = points[points["run_id"].isin(runs["run_id"])].reset_index(drop=True)
    samples = pd.DataFrame(
        {"run_id": constant(None, 0), **{name: pd.Series(dtype="int64") for name in MEASURES}}
    )
    return Measurements(samples, runs, points=points)


def _unchanged(path: Path) -> bytes:
    """Return the bytes of a bundle with the right hash; raises InputError."""
    try:
        data = read_limited(path, BUNDLE_BYTES)
    except OSError as error:
        if error.errno == errno.EFBIG:
            problem = "is too large for a bundle; ask for a smaller selection"
            raise InputError(path, problem) from None
        raise InputError(path, f"{error.strerror}; check the path") from None
    body, digits = data[:-_DIGITS], data[-_DIGITS:]
    if hashlib.sha256(body).hexdigest().encode() != digits:
        raise InputError(
            path,
            "was changed since it was made, or is incomplete: its hash is wrong; copy it again",
        )
    return data


def _parquet(table: pd.DataFrame) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_pandas(table, preserve_index=False), buffer, compression="zstd")
    return buffer.getvalue()


def _part(archive: zipfile.ZipFile, name: str) -> bytes:
    """Return a part, which is stored as it is: a packed one could be of any size."""
    if archive.getinfo(name).file_size > BUNDLE_BYTES:
        raise ValueError(f"{name} is too large")
    return archive.read(name)


def _table(content: bytes) -> pd.DataFrame:
    """Parse a table of texts, which are categories then, and numbers."""
    found: pd.DataFrame = read_parquet(content, BUNDLE_CELLS).to_pandas()
    return found


def _runs(path: Path, content: bytes) -> pd.DataFrame:
    """Read the runs. Their source is the file that was bundled, after the bundle."""
    runs = _table(content)[RUN_COLUMNS].astype(object)
    runs = runs.where(runs.notna(), None)
    for header, footer in zip(runs["header"], runs["footer"], strict=True):
        if header is not None and (problem := _problem(header, footer)):
            raise ValueError(problem)
    if problem := locks_problem(runs["lock"].dropna()):
        raise ValueError(problem)
    source = path_text(path)
    runs["source"] = [f"{source}: {own}" for own in runs["source"]]
    return runs


def _problem(header: str, footer: str | None) -> str | None:
    """Return what is wrong with the header or footer of a run, if anything is."""
    facts = parse_json(header)
    if not isinstance(facts, dict):
        return "a header is not an object"
    if (problem := header_problem(facts)) or footer is None:
        return problem
    end = parse_json(footer)
    return footer_problem(end, facts) if isinstance(end, dict) else "a footer is not an object"


def _points(content: bytes) -> pd.DataFrame:
    """Read the points, with identity columns as categories."""
    points = _table(content)
    numbers = points[CURVE_COLUMNS].astype(float)
    if not (numbers["time_us"] > 0).all() or not (numbers["size_bytes"] >= 0).all():
        raise ValueError("a time or a size is not positive")
    if not (numbers[["size_bytes", "count"]] < COUNT).all(axis=None):
        raise ValueError("a size or a count is too large")
    numbers = numbers.astype({"size_bytes": "int64", "count": "int64"})
    identity = points.drop(columns=CURVE_COLUMNS).astype(object)
    identity = identity.where(identity.notna(), None)
    if not identity.map(lambda value: value is None or isinstance(value, str)).all(axis=None):
        raise ValueError("a name is not text")
    return pd.concat([identity.astype("category"), numbers], axis=1)
