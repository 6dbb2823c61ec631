"""Turns the tables that benchmarks print, among whatever else a job prints, into samples.

A reader finds the tables and says which column is the metric; sizes and times are checked here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from switchpoint.errors import InputError
from switchpoint.importing.external import as_measurements, check_sizes
from switchpoint.measurements import Measurements


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
    path: Path, form: str, tool: str, data: bytes, tables: list[Table], names: Columns
) -> Measurements:
    """Join the tables of one file into measurements, a run for each kernel.

    A size printed again is another pass over its curve. Rows that are cut short or whose time is
    no positive number are left out with a warning.
    """
    parts, warnings = [], []
    for table in tables:
        part, problems = _samples(path, table, names)
        warnings += problems
        if not part.empty:
            parts.append(part)
    if not parts:
        raise InputError(path, "holds the heading of a table and no results; measure again")
    samples = pd.concat(parts, ignore_index=True)
    identity = list(dict.fromkeys(name for table in tables for name in table.identity))
    samples[identity] = samples[identity].astype("category")
    again = samples.groupby([*identity, "size_bytes"], observed=True, dropna=False)
    samples["pass"] = again.cumcount()
    return as_measurements(path, form, data, samples, warnings, tool=tool)


def _samples(path: Path, table: Table, names: Columns) -> tuple[pd.DataFrame, list[str]]:
    metric = next((name for name in names.metrics if name in table.columns), None)
    if metric is None:
        line = table.lines[0] if table.lines else None
        raise InputError(
            path,
            f"no column is known among {', '.join(table.columns)}; print the plain table",
            line,
        )
    width = len(table.columns)
    short = [len(row) < width for row in table.rows]
    fields = pd.DataFrame(
        [row[:width] for row in table.rows if len(row) >= width], columns=table.columns
    )
    lines = pd.Series([n for n, cut in zip(table.lines, short, strict=True) if not cut], dtype=int)
    size = _numbers(fields, names.size)
    value = _numbers(fields, metric)
    good = value.gt(0) & value.lt(np.inf)
    kind = names.metrics[metric]
    if kind == "bandwidth":  # nothing is carried by an empty message
        good &= size.gt(0)
    where = f"{path}: {table.identity['kernel']}"
    warnings = []
    lost = int(sum(short) + (~good & (size.gt(0) | (kind == "time"))).sum())
    if lost:
        warnings.append(
            f"{where}: {lost} row{'s' if lost > 1 else ''} without a usable {metric} left out:"
            " measure again for all points"
        )
    if "Validation" in fields and fields["Validation"].eq("Fail").any():
        count = int(fields["Validation"].eq("Fail").sum())
        warnings.append(
            f"{where}: payloads of {count} sizes arrived damaged; do not trust these times"
        )
    size, value, lines = size[good], value[good], lines[good]
    check_sizes(path, size, lines)
    samples = pd.DataFrame({"size_bytes": size.astype("int64")})
    per_message = {"time": value, "bandwidth": size / value, "rate": 1e6 / value}
    samples["time_us"] = per_message[kind]
    repeats = _numbers(fields, names.iterations)[good]
    samples["iterations"] = repeats.where(repeats.ge(1), 1).astype("int64")
    return samples.assign(**table.identity), warnings


def _numbers(fields: pd.DataFrame, name: str) -> pd.Series[float]:
    """Numbers of a column, NaN where there is none; all 0 where the table lacks the column."""
    if name not in fields:
        return pd.Series(0.0, index=fields.index)
    return pd.to_numeric(fields[name], errors="coerce").astype(float)
