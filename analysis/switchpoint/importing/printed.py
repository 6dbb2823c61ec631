"""Converts tables in the output of benchmarks into samples.

A reader finds the tables and names the column of the metric. This module checks sizes and times.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from switchpoint.errors import InputError
from switchpoint.importing.external import (
    are_times,
    as_measurements,
    check_sizes,
    known_repeats,
    text_lines,
)
from switchpoint.importing.labels import Surroundings
from switchpoint.limits import ROW_CHARACTERS
from switchpoint.tables.measurements import Measurements, repeated, times_before

#: The start of a line: blanks, and the tag with which a launcher names the rank (`srun -l`,
#: `mpiexec -l` and `--tag-output`).
TAG = rb"(?:\[[^]\s]+\](?:<std\w+>:|(?=\s))|[ \t]*\d+:(?=\s))?[ \t]*"

_TAG = re.compile(TAG.decode())

#: A field that should be a number. `0,16` and `0x20` are counted as lost.
NUMBER = r"(?:-?(?:0x[\da-f]+|(?=[.,]?\d)[\d.]*(?:,[\d.]+)*(?:e[-+]?\d+)?)|-?nan|-?inf)"


def printed_lines(path: Path, data: bytes) -> Iterator[tuple[int, str]]:
    """Return lines with their numbers, counted from 1, without tags and outer blanks.

    Lines that are longer than any row or heading are left out.
    """
    for number, line in enumerate(text_lines(path, data), start=1):
        if len(line) <= ROW_CHARACTERS:
            yield number, _TAG.sub("", line, count=1).rstrip()


@dataclass
class Table:
    """One printed table.

    Attributes
    ----------
    identity : dict of str to str
        What the text around it says about the curve, such as `kernel` and `processes`.
    columns : list of str
        In the printed order.
    rows, lines : list
        The fields of each row as text, and the row's line in the file, counted from 1.
    """

    identity: dict[str, str]
    columns: list[str]
    rows: list[list[str]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Columns:
    """The names of a tool's columns.

    Attributes
    ----------
    size, iterations : str
        Message size in bytes (0 in a table without this column), and repetitions.
    metrics : dict of str to str
        Maps a column to `time` (us), `bandwidth` (10^6 B/s) or `rate` (messages/s). The first
        column that a table contains is used.
    """

    size: str
    iterations: str
    metrics: dict[str, str]


def as_runs(
    path: Path,
    around: Surroundings,
    form: str,
    tool: str,
    data: bytes,
    tables: list[Table],
    names: Columns,
) -> Measurements:
    """Join the tables of one file into measurements, with a run for each kernel.

    A repeated size is another pass over its curve. Incomplete rows, and rows without a valid size
    or a positive time, are skipped with a warning.
    """
    parts, warnings = [], []
    for table in tables:
        part, problems = _numbers_of(path, table, names)
        warnings += problems
        parts.append(part)
    counts = [len(part["size_bytes"]) for part in parts]
    if sum(counts) == 0 and any(table.rows for table in tables):
        raise InputError(
            path,
            "contains a table without any row with a usable size and time; write decimals with a"
            " point, or measure again",
        )
    if sum(counts) == 0:
        raise InputError(path, "contains the heading of a table but no results; measure again")
    identity = dict.fromkeys(name for table in tables for name in table.identity)
    columns: dict[str, Any] = {
        name: repeated([table.identity.get(name) for table in tables], counts) for name in identity
    }
    columns |= {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    columns["pass"] = times_before([columns[name] for name in (*identity, "size_bytes")])
    samples = pd.DataFrame(columns)
    return as_measurements(path, around, form, data, samples, warnings, tool=tool)


def _numbers_of(path: Path, table: Table, names: Columns) -> tuple[dict[str, Any], list[str]]:
    """Return sizes, times and iterations of a table as arrays, and its problems."""
    metric = next((name for name in names.metrics if name in table.columns), None)
    if metric is None:
        line = table.lines[0] if table.lines else None
        raise InputError(
            path,
            f"no known column among {', '.join(table.columns)}; print the plain table",
            line,
        )
    width = len(table.columns)
    whole = [len(row) >= width for row in table.rows]
    rows = list(itertools.compress(table.rows, whole))
    size, value, repeats = (
        _column(table, rows, name) for name in (names.size, metric, names.iterations)
    )
    numbered = np.isfinite(size)
    kind = names.metrics[metric]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        time_us = {"time": value, "bandwidth": size / value, "rate": 1e6 / value}[kind]
    good = numbered & (value > 0) & are_times(time_us)  # an empty message has no bandwidth
    where = f"{path}: {table.identity['kernel']}"
    warnings = []
    lost = int(len(whole) - len(rows) + (~good & ((size != 0) | (kind == "time"))).sum())
    if lost:
        what = metric if numbered.all() else f"{names.size} or {metric}"
        warnings.append(
            f"{where}: {lost} row{'s' if lost > 1 else ''} without a usable {what} skipped:"
            " measure again for all points"
        )
    if "Validation" in table.columns:
        verdicts = [row[table.columns.index("Validation")] for row in rows]
        if damaged := sum(verdict.lower().startswith("fail") for verdict in verdicts):
            warnings.append(
                f"{where}: payloads of {damaged} sizes arrived damaged; do not trust these times"
            )
    check_sizes(path, size[good], np.array(list(itertools.compress(table.lines, whole)))[good])
    return {
        "size_bytes": size[good].astype("int64"),
        "time_us": time_us[good],
        "iterations": known_repeats(repeats[good]),
    }, warnings


def _column(table: Table, rows: list[list[str]], name: str) -> npt.NDArray[np.float64]:
    """Return the numbers of a column, NaN for other text; all 0 if the table has no such column."""
    if name not in table.columns:
        return np.zeros(len(rows))
    place = table.columns.index(name)
    texts = np.array([row[place] for row in rows], dtype=object)
    return np.asarray(pd.to_numeric(texts, errors="coerce"), dtype=float)
