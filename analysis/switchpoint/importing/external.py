"""Converts tables of times from other tools to measurements, and names their bad rows."""

from __future__ import annotations

import codecs
import hashlib
import json
import re
from collections.abc import Iterable
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from switchpoint.data_warnings import DataWarning, text_of_warnings
from switchpoint.errors import InputError
from switchpoint.importing.column_plan import STATISTIC
from switchpoint.importing.labels import IDENTITY_LABELS, Surroundings, read_labels
from switchpoint.limits import COUNT, LONGEST_US, SHORTEST_US, TEXT_BYTES, TEXT_LINES
from switchpoint.printable import path_text
from switchpoint.records.lines import guarded, open_maybe_gzip
from switchpoint.tables.columns import PASSING_LABELS, RUN_COLUMNS
from switchpoint.tables.from_records import own_labels
from switchpoint.tables.identity import IDENTITY
from switchpoint.tables.measurements import (
    Measurements,
    constant,
    repeated,
    times_before,
)
from switchpoint.tables.mpi_names import mpi_name
from switchpoint.tables.validity import is_start

#: The line of Intel's benchmarks and others: `# Date : Thu Jan 10 12:34:56 2019`.
_DATE = re.compile(
    rb"^[^\w\r\n]*Date\s*:\s*(?:\w{3},?\s+)?(?P<month>[A-Za-z]{3})\s+(?P<day>\d{1,2})\s+[\d:]+\s+"
    rb"(?:[A-Z]{3,5}\s+)?(?P<year>\d{4})",
    re.MULTILINE,
)
_MONTHS = b"janfebmaraprmayjunjulaugsepoctnovdec"
_MONTH_NAMES = frozenset(_MONTHS[place : place + 3] for place in range(0, 36, 3))

_Numbers = npt.NDArray[np.float64]
_Lines = npt.NDArray[np.int64]
_Line = TypeVar("_Line", str, bytes)


def content(path: Path, most_bytes: int = TEXT_BYTES) -> bytes:
    """Return the unpacked content of a file; raises InputError, also for a huge file."""
    with open_maybe_gzip(path) as stream:
        data = guarded(path, stream.read, most_bytes + 1)
    if len(data) > most_bytes:
        raise InputError(
            path, f"is larger than {most_bytes // 2**20} MiB; split it, for example by curve"
        )
    return data


def text_lines(path: Path, data: bytes) -> list[str]:
    """Return the lines of a text in any encoding that contains ASCII; raises InputError."""
    return few_enough(path, data.decode("utf-8-sig", errors="replace").splitlines())


def few_enough(path: Path, lines: list[_Line]) -> list[_Line]:
    """Return the lines; raises InputError if there are more than are read one by one."""
    if len(lines) > TEXT_LINES:
        raise InputError(path, f"has more than {TEXT_LINES:,} lines; split it")
    return lines


def as_measurements(
    path: Path,
    around: Surroundings,
    form: str,
    data: bytes,
    samples: pd.DataFrame,
    warnings: Iterable[DataWarning],
    tool: str | None = None,
) -> Measurements:
    """Join samples with the row of each run: one run per kernel, identified by its content.

    Labels in, beside and above the file, and its path, add what the file itself does not say
    (`importing.labels`).

    Parameters
    ----------
    path, around
        The file, and what its path and folders say about it.
    form, data
        The name of its format, and its unpacked content.
    samples
        `size_bytes`, `time_us`, perhaps `pass` and `iterations`, and the identity columns; also
        `run_id` if runs have an identity that does not depend on the file.
    warnings
        What to know of the file, which becomes their place.
    tool
        Name and version of the tool that measured, if the file contains them.
    """
    labels = around.complete(read_labels(path, data))
    if "mpi" in labels:
        labels["mpi"] = mpi_name(labels["mpi"])
    columns = _columns(samples, labels)
    shared: dict[str, object] = {name: labels.get(name) for name in PASSING_LABELS}
    day = labels.get("start_utc", "")[:10]
    if not day and around.choices.dates:
        day = _day_of(path, data)
        shared["start_utc"] = day
    shared |= {
        "format": form,
        "source": path_text(path),
        "date": day or None,
        "complete": True,
        "tool": tool,
        "labels": json.dumps(labels) if labels else None,
        "warnings": text_of_warnings(warning.at(path_text(path)) for warning in warnings),
    }
    if "run_id" in columns:
        code, run_ids = pd.factorize(columns.pop("run_id"))
    else:
        kernels, code = _kernels(columns, len(samples))
        statistics = columns[STATISTIC].dropna() if STATISTIC in columns else []
        run_ids = _run_ids(data, labels, kernels, sorted({*map(str, statistics)}))
    if len(run_ids) > 1:
        order = np.argsort(code, kind="stable")
        columns, code = {name: column[order] for name, column in columns.items()}, code[order]
    columns["run_id"] = repeated(run_ids, np.bincount(code))
    measures = _measures(columns, code)
    identity_of = {name: column for name, column in columns.items() if name not in measures}
    runs = [
        dict.fromkeys(RUN_COLUMNS)
        | {name: _common(identity_of[name][code == n]) for name in IDENTITY if name in identity_of}
        | shared
        | {"run_id": run_id}
        for n, run_id in enumerate(run_ids)
    ]
    return Measurements(
        pd.DataFrame(identity_of | measures), pd.DataFrame(runs, columns=RUN_COLUMNS)
    )


def _day_of(path: Path, data: bytes) -> str:
    """Return the day that a `# Date` line names, or the day (UTC) of the file's last change."""
    days = {
        f"{match['year'].decode()}-{_MONTHS.index(match['month'].lower()) // 3 + 1:02}"
        f"-{int(match['day']):02}"
        for match in _DATE.finditer(data)
        if match["month"].lower() in _MONTH_NAMES
    }
    if len(days) == 1 and is_start(day := days.pop()):
        return day
    return datetime.fromtimestamp(path.stat().st_mtime, timezone.utc).date().isoformat()


def _columns(samples: pd.DataFrame, labels: dict[str, str]) -> dict[str, Any]:
    """Return columns of samples, and those that only labels contain."""
    columns: dict[str, Any] = {str(name): column.array for name, column in samples.items()}
    texts = {name: labels[name] for name in IDENTITY_LABELS if name in labels} | own_labels(labels)
    return columns | {
        name: constant(text, len(samples)) for name, text in texts.items() if name not in columns
    }


def _run_ids(
    data: bytes, labels: dict[str, str], kernels: list[str], statistics: list[str]
) -> list[str]:
    """Identity of each kernel's run: the content, the labels and, of several, the kernel.

    Other statistics than the average are runs of their own, so that a store keeps each.

    A mark in front of the text and the form of its line ends, which copies change, do not count.
    """
    text = data.removeprefix(codecs.BOM_UTF8).replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    content_hash = hashlib.sha256(text)
    if labels:
        content_hash.update(json.dumps(labels, sort_keys=True).encode())
    if statistics:
        content_hash.update(f"statistic {statistics}".encode())
    run_ids = []
    for kernel in kernels:
        identity = content_hash.copy()
        if len(kernels) > 1:
            identity.update(kernel.encode())
        run_ids.append(identity.hexdigest()[:32])
    return run_ids


def _measures(columns: dict[str, Any], code: npt.NDArray[np.int64]) -> dict[str, Any]:
    """Return columns that are not identity. Samples that agree in the others are numbered."""
    alike = [column for name, column in columns.items() if name not in {"time_us", "iterations"}]
    return {
        "size_bytes": columns["size_bytes"].astype("int64"),
        "pass": columns.get("pass", np.zeros_like(code)).astype("int32"),
        "sample": times_before(alike).astype("int32"),
        "iterations": columns.get("iterations", np.ones_like(code)).astype("int64"),
        "time_us": columns["time_us"],
    }


def _kernels(columns: dict[str, Any], count: int) -> tuple[list[str], npt.NDArray[np.int64]]:
    """Return the kernels in order of appearance, and the kernel of each row."""
    if "kernel" not in columns:
        return [""], np.zeros(count, dtype="int64")
    code, which = pd.factorize(columns["kernel"].codes)
    return [str(columns["kernel"].categories[place]) for place in which], code


def _common(column: pd.Categorical) -> str | None:
    """Return the text that all rows of an identity column share, or None."""
    codes = column.codes
    return str(column.categories[codes[0]]) if codes[0] >= 0 and (codes == codes[0]).all() else None


def are_sizes(numbers: _Numbers) -> npt.NDArray[np.bool_]:
    """Return which numbers are whole numbers of bytes that a message can have."""
    with np.errstate(invalid="ignore"):
        return np.asarray((numbers >= 0) & (numbers < COUNT) & (numbers % 1 == 0))


def are_times(numbers: _Numbers) -> npt.NDArray[np.bool_]:
    """Return which numbers are times in microseconds that can have been measured."""
    return (numbers >= SHORTEST_US) & (numbers <= LONGEST_US)


def check_sizes(path: Path, sizes: _Numbers, lines: _Lines) -> None:
    """Raise InputError at the first size that is not a whole number of bytes, 0 or more."""
    rule = "sizes are whole numbers of bytes, 0 or more and less than 2^62"
    _refuse(path, ~are_sizes(sizes), sizes, lines, "size_bytes", rule)


def check_positive(path: Path, values: _Numbers, lines: _Lines, field: str) -> None:
    """Raise InputError at the first value that is not positive and finite."""
    bad = ~((values > 0) & (values < np.inf))
    _refuse(path, bad, values, lines, field, "it must be a positive number")


def check_times(path: Path, values: _Numbers, lines: _Lines) -> None:
    """Raise InputError at the first time that cannot have been measured."""
    check_positive(path, values, lines, "time_us")
    rule = f"times are from {SHORTEST_US:g} to {LONGEST_US:g} us"
    _refuse(path, ~are_times(values), values, lines, "time_us", rule)


def known_repeats(numbers: _Numbers) -> npt.NDArray[np.int64]:
    """Return numbers of repetitions; 1 where a number cannot be one."""
    with np.errstate(invalid="ignore"):
        known = (numbers >= 1) & (numbers < COUNT)
    return np.where(known, numbers, 1).astype("int64")


def _refuse(
    path: Path,
    bad: npt.NDArray[np.bool_],
    values: _Numbers,
    lines: _Lines,
    field: str,
    rule: str,
) -> None:
    if bad.any():
        row = int(bad.argmax())
        value = float(values[row])
        whole = abs(value) < COUNT and value == int(value)
        shown = int(value) if whole else value
        raise InputError(
            path, f"{field} is {shown}; {rule}: correct or remove the row", int(lines[row])
        )
