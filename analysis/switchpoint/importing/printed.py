"""Turns the tables that benchmarks print, among whatever else a job prints, into samples.

A reader finds the tables and says which column is the metric; sizes and times are checked here.
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
from switchpoint.importing.external import as_measurements, check_sizes
from switchpoint.importing.labels import Surroundings
from switchpoint.tables.measurements import Measurements, repeated, times_before

#: Before a line: what a launcher puts there to name the rank (`srun -l`, `mpiexec -l` and
#: `--tag-output`), and blanks.
TAG = rb"(?:\[[^]\s]+\](?:<std\w+>:|(?=\s))|\s*\d+:(?=\s))?[ \t]*"

_TAG = re.compile(TAG.decode())

#: A field that is meant for a number, if it is one or not: `0,16` and `0x20` are counted as lost.
NUMBER = r"(?:-?(?:0x[\da-f]+|(?=[.,]?\d)[\d.]*(?:,[\d.]+)*(?:e[-+]?\d+)?)|-?nan|-?inf)"


def printed_lines(data: bytes) -> Iterator[tuple[int, str]]:
    """Lines with their numbers, from 1, without tags and outer blanks."""
    text = data.decode("utf-8", errors="replace")
    for number, line in enumerate(text.splitlines(), start=1):
        yield number, _TAG.sub("", line, count=1).rstrip()


@dataclass
class Table:
    """One printed table.

    Attributes
    ----------
    identity : dict of str to str
        What the words around it say of the curve, such as `kernel` and `processes`.
    columns : list of str
        As printed, in order.
    rows, lines : list
        The fields of each row as text, and the row's line in the file, from 1.
    """

    identity: dict[str, str]
    columns: list[str]
    rows: list[list[str]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Columns:
    """What a tool calls its columns.

    Attributes
    ----------
    size, iterations : str
        Message size in bytes (a table without it has no sizes: 0), and repetitions.
    metrics : dict of str to str
        Column to `time` (us), `bandwidth` (10^6 B/s) or `rate` (messages/s); the first that a
        table has is taken.
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
    """Join the tables of one file into measurements, a run for each kernel.

    A size printed again is another pass over its curve. Rows that are cut short, whose size is no
    number or whose time is no positive one are left out with a warning.
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
            "holds a table and no row of it with a usable size and time; write decimals with a"
            " point, or measure again",
        )
    if sum(counts) == 0:
        raise InputError(path, "holds the heading of a table and no results; measure again")
    identity = dict.fromkeys(name for table in tables for name in table.identity)
    columns: dict[str, Any] = {
        name: repeated([table.identity.get(name) for table in tables], counts) for name in identity
    }
    columns |= {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    columns["pass"] = times_before([columns[name] for name in (*identity, "size_bytes")])
    samples = pd.DataFrame(columns)
    return as_measurements(path, around, form, data, samples, warnings, tool=tool)


def _numbers_of(path: Path, table: Table, names: Columns) -> tuple[dict[str, Any], list[str]]:
    """Sizes, times and iterations of a table, as arrays, and what was wrong with it."""
    metric = next((name for name in names.metrics if name in table.columns), None)
    if metric is None:
        line = table.lines[0] if table.lines else None
        raise InputError(
            path,
            f"no column is known among {', '.join(table.columns)}; print the plain table",
            line,
        )
    width = len(table.columns)
    whole = [len(row) >= width for row in table.rows]
    rows = list(itertools.compress(table.rows, whole))
    size, value, repeats = (
        _column(table, rows, name) for name in (names.size, metric, names.iterations)
    )
    numbered = np.isfinite(size)
    good = numbered & (value > 0) & (value < np.inf)
    kind = names.metrics[metric]
    if kind == "bandwidth":  # nothing is carried by an empty message
        good &= size > 0
    where = f"{path}: {table.identity['kernel']}"
    warnings = []
    lost = int(len(whole) - len(rows) + (~good & ((size != 0) | (kind == "time"))).sum())
    if lost:
        what = metric if numbered.all() else f"{names.size} or {metric}"
        warnings.append(
            f"{where}: {lost} row{'s' if lost > 1 else ''} without a usable {what} left out:"
            " measure again for all points"
        )
    if "Validation" in table.columns:
        verdicts = [row[table.columns.index("Validation")] for row in rows]
        if damaged := sum(verdict.lower().startswith("fail") for verdict in verdicts):
            warnings.append(
                f"{where}: payloads of {damaged} sizes arrived damaged; do not trust these times"
            )
    size, value, repeats = size[good], value[good], repeats[good]
    check_sizes(path, size, np.array(list(itertools.compress(table.lines, whole)))[good])
    per_message = {"time": value, "bandwidth": size / value, "rate": 1e6 / value}
    return {
        "size_bytes": size.astype("int64"),
        "time_us": per_message[kind],
        "iterations": np.where(repeats >= 1, repeats, 1).astype("int64"),
    }, warnings


def _column(table: Table, rows: list[list[str]], name: str) -> npt.NDArray[np.float64]:
    """Numbers of a column, NaN where there is none; all 0 where the table lacks the column."""
    if name not in table.columns:
        return np.zeros(len(rows))
    place = table.columns.index(name)
    texts = np.array([row[place] for row in rows], dtype=object)
    return np.asarray(pd.to_numeric(texts, errors="coerce"), dtype=float)
