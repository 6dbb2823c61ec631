"""Converts tables in the output of benchmarks into samples.

A reader names the columns. This module checks every row, and that rows of one table belong to one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from switchpoint.errors import InputError
from switchpoint.importing.column_plan import STATISTIC
from switchpoint.importing.external import are_times, as_measurements, check_sizes, known_repeats
from switchpoint.importing.labels import Surroundings
from switchpoint.importing.printed_tables import Table
from switchpoint.importing.problems import (
    CUT_ROW,
    NO_ROWS,
    ODD_ROW,
    REST_OF_ROW,
    SAME_ROW,
    Problem,
    warnings_of,
)
from switchpoint.importing.row_forms import is_whole, odd_rows
from switchpoint.importing.same_curves import Part, apart, in_order, once
from switchpoint.tables.measurements import Measurements, repeated, times_before

_Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Columns:
    """The names of a tool's columns.

    Attributes
    ----------
    size, iterations : str
        Message size in bytes (0 in a table without this column), and repetitions.
    metrics : dict of str to str
        Maps a column of averages to its kind, see `_TIME_OF`. The first column that a table
        contains is used.
    fixed : bool
        Whether all numbers of a column have the same decimals.
    statistics : dict of str to tuple
        Maps a column to another statistic than the average, and its kind.
    """

    size: str
    iterations: str
    metrics: dict[str, str]
    fixed: bool = True
    statistics: dict[str, tuple[str, str]] = field(default_factory=dict)

    def choose(self, columns: list[str], wanted: str) -> tuple[str, str, str] | None:
        """Return the curve's column, its kind and its statistic; None if there is no such column.

        Without a choice, it is the average, or else the first other statistic.
        """
        averages = [(name, kind, "avg") for name, kind in self.metrics.items()]
        others = [(name, kind, what) for name, (what, kind) in self.statistics.items()]
        return next(
            (
                (name, kind, what)
                for name, kind, what in [*averages, *others]
                if name in columns and wanted in ("", what)
            ),
            None,
        )


#: The time in microseconds of a message of some size, by the kind of a column: a time, a
#: bandwidth in 10^6 B/s, 2^20 B/s or 10^9 bit/s, or messages per second.
_TIME_OF: dict[str, Callable[[_Numbers, _Numbers], _Numbers]] = {
    "time": lambda size, value: value,
    "bandwidth": lambda size, value: size / value,
    "MiB/s": lambda size, value: size / (value * 2**20 / 1e6),
    "Gb/s": lambda size, value: size / (value * 125),
    "rate": lambda size, value: 1e6 / value,
}


@dataclass
class _Checked:
    """The rows of a table that can be used, and why others cannot."""

    table: Table
    rows: list[list[str]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def tell(self, line: int, what: str) -> None:
        """Add a problem."""
        self.problems.append(Problem(line, what, self.table.identity.get("kernel", "")))


def parts_of(
    tables: Iterable[Table], names: Columns, statistic: str = ""
) -> tuple[list[Part], list[Problem]]:
    """Return sizes and times of tables, and why rows and tables are skipped.

    The curve is of the given statistic, or else of the average. Another statistic than the
    average is part of its identity.
    """
    parts: list[Part] = []
    problems: list[Problem] = []
    for table in tables:
        checked = _checked(table, fixed=names.fixed)
        part = _numbers_of(checked, names, statistic)
        problems += checked.problems
        if part is not None:
            ascending, out_of_order = in_order(part)
            parts += ascending
            problems += out_of_order
    return parts, problems


def as_runs(
    path: Path,
    around: Surroundings,
    form: str,
    tool: str | None,
    data: bytes,
    parts: list[Part],
    problems: list[Problem],
) -> Measurements:
    """Join the tables of one file into measurements, with a run for each kernel.

    A repeated size is another pass over its curve. Tables that differ in more than noise are
    curves of their own.

    Raises
    ------
    InputError
        If no table has a row that can be used.
    """
    parts = [part for part in parts if len(part.size_bytes)]
    if not parts:
        raise _no_results(path, problems)
    for part in parts:
        check_sizes(path, part.size_bytes, part.lines)
    parts, twice = once(parts)
    parts, own_curves = apart(parts)
    warnings = [*warnings_of(problems), *twice, *own_curves]
    counts = [len(part.size_bytes) for part in parts]
    identity = dict.fromkeys(name for part in parts for name in part.identity)
    columns: dict[str, Any] = {
        name: repeated([part.identity.get(name) for part in parts], counts) for name in identity
    }
    columns["size_bytes"] = np.concatenate([part.size_bytes for part in parts]).astype("int64")
    columns["time_us"] = np.concatenate([part.time_us for part in parts])
    columns["iterations"] = np.concatenate([part.iterations for part in parts])
    columns["pass"] = times_before([columns[name] for name in (*identity, "size_bytes")])
    samples = pd.DataFrame(columns)
    return as_measurements(path, around, form, data, samples, warnings, tool=tool)


def _no_results(path: Path, problems: list[Problem]) -> InputError:
    """Describe a file without any row that can be used."""
    why = next((problem for problem in problems if problem.what != NO_ROWS), None)
    if why is None:
        return InputError(path, "contains the heading of a table but no results; measure again")
    return InputError(path, f"{why.what}; there is no other table", why.line)


def _checked(table: Table, *, fixed: bool) -> _Checked:
    """Leave out rows that have not one field for each column, or another form than all others."""
    checked, width = _Checked(table), len(table.columns)
    after_short = False
    for row, line in zip(table.rows, table.lines, strict=True):
        if len(row) == width and after_short and not _larger(row, checked.rows):
            checked.tell(line, REST_OF_ROW)
        elif len(row) != width:
            values = f"{len(row)} value{'s' if len(row) > 1 else ''}"
            checked.tell(line, f"{values} under {width} names: the row is skipped")
        elif checked.rows and row == checked.rows[-1]:
            checked.tell(line, SAME_ROW)
        elif line in table.not_ended and not _is_whole(row, line, table):
            checked.tell(line, CUT_ROW)
        else:
            checked.rows.append(row)
            checked.lines.append(line)
        after_short = len(row) < width
    odd = odd_rows(checked.rows) if fixed else set()
    for place in sorted(odd, reverse=True):
        what = f"'{' '.join(checked.rows[place])[:40]}' {ODD_ROW}"
        checked.tell(checked.lines[place], what)
        del checked.rows[place], checked.lines[place]
    return checked


def _larger(row: list[str], before: list[list[str]]) -> bool:
    """Return whether a row has a larger size than the row before it."""
    try:
        return not before or float(row[0]) > float(before[-1][0])
    except ValueError:
        return False


def _is_whole(row: list[str], line: int, table: Table) -> bool:
    others = [
        other[-1]
        for other, at in zip(table.rows, table.lines, strict=True)
        if at != line and len(other) == len(row)
    ]
    return is_whole(row[-1], others)


def _numbers_of(checked: _Checked, names: Columns, wanted: str) -> Part | None:
    """Return sizes, times and iterations of a table; None if they are not known."""
    table, rows = checked.table, checked.rows
    chosen = names.choose(table.columns, wanted)
    if chosen is None:
        if table.rows and names.choose(table.columns, ""):
            checked.tell(table.lines[0], f"the table has no {wanted} of times: it is skipped")
        elif table.rows:
            what = f"no known column among {', '.join(table.columns)}; print the plain table"
            checked.tell(table.lines[0], what)
        return None
    metric, kind, statistic = chosen
    if not rows:
        return None
    size, value, repeats = (
        _column(table, rows, name) for name in (names.size, metric, names.iterations)
    )
    numbered = np.isfinite(size)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        time_us = _TIME_OF[kind](size, value)
    good = numbered & (value > 0) & are_times(time_us)  # an empty message has no bandwidth
    what = metric if numbered.all() else f"{names.size} or {metric}"
    for place in np.flatnonzero(~good & ((size != 0) | (kind == "time"))):
        checked.tell(
            checked.lines[place],
            f"no usable {what}: the row is skipped; write decimals with a point",
        )
    if "Validation" in table.columns:
        verdict = table.columns.index("Validation")
        for row, line in zip(rows, checked.lines, strict=True):
            if row[verdict].lower().startswith("fail"):
                checked.tell(line, "the payload arrived damaged; do not trust this time")
    other_statistic = {} if statistic == "avg" else {STATISTIC: statistic}
    return Part(
        table.identity | other_statistic,
        size[good],
        time_us[good],
        known_repeats(repeats[good]),
        np.array(checked.lines)[good],
        table.rank,
        table.command,
        table.after_another,
    )


def _column(table: Table, rows: list[list[str]], name: str) -> npt.NDArray[np.float64]:
    """Return the numbers of a column, NaN for other text; all 0 if the table has no such column."""
    if name not in table.columns:
        return np.zeros(len(rows))
    place = table.columns.index(name)
    texts = np.array([row[place] for row in rows], dtype=object)
    return np.asarray(pd.to_numeric(texts, errors="coerce"), dtype=float)
