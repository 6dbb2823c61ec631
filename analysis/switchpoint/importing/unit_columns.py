"""Checks what the cells of a CSV say of its numbers: units in a column, and commas for decimals."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pandas as pd

from switchpoint.errors import InputError
from switchpoint.importing.column_names import in_bytes
from switchpoint.importing.column_plan import SIZE, Plan
from switchpoint.importing.problems import Problem
from switchpoint.importing.value_units import in_bytes_per_us, in_microseconds, is_ambiguous
from switchpoint.printable import printable

#: The name of a column of units, such as `unit` or `time_unit`.
_UNIT = re.compile(r"(?:.*[^a-z])?units?", re.IGNORECASE | re.DOTALL)

#: So many rows without decimals, each with digits in the next column, may have commas for points.
_LEAST_ROWS = 3

#: The share of all sizes that a name of a curve has.
_LEAST_FILLED = 0.5

_READ: tuple[Callable[[str], float | None], ...] = (in_microseconds, in_bytes_per_us, in_bytes)


def without_units(
    path: Path, table: pd.DataFrame, lines: pd.Series[int], plan: Plan
) -> pd.DataFrame:
    """Leave out columns of units which are those of the numbers' own columns.

    Raises
    ------
    InputError
        If a cell says another unit than the heading of the numbers.
    """
    of_time = plan.metric == "time_us"
    metric = in_microseconds if of_time else in_bytes_per_us
    for name in [name for name in table if _UNIT.fullmatch(str(name))]:
        units = table[name].fillna("").str.strip()
        if not all(_is_unit(unit) for unit in units.unique()):
            continue  # another kind of unit, such as a part of a machine
        other = in_bytes_per_us if of_time else in_microseconds
        if len(str(name)) > len("units") and all(other(unit) for unit in units.unique()):
            table = table.drop(columns=[name])  # of a result that is not the curve
            continue
        sizes = units.map(lambda unit: in_bytes(unit) is not None)
        scales = units.map(lambda unit: in_bytes(unit) if in_bytes(unit) else metric(unit))
        expected = sizes.map({True: plan.size_scale, False: plan.metric_scale})
        wrong = (units != "") & (scales != expected)
        if wrong.any():
            row = int(wrong.to_numpy().argmax())
            what = SIZE if sizes.iloc[row] else plan.metric
            unit = printable(units.iloc[row])[:20]
            problem = (
                f"column '{printable(str(name))[:40]}' says '{unit}', which is not the unit of"
                f" {what}; convert the numbers, or name their column with its unit"
            )
            raise InputError(path, problem, int(lines.iloc[row]))
        table = table.drop(columns=[name])
    return table


def _is_unit(text: str) -> bool:
    return text == "" or is_ambiguous(text) or any(read(text) is not None for read in _READ)


def decimal_commas(table: pd.DataFrame, lines: pd.Series[int], metric: str) -> list[Problem]:
    """Say if the decimals of a metric may be in the next column, behind a comma.

    Then no number has a point, and the next column has digits that neither count nor name curves,
    each of which has most sizes.
    """
    place = [*table].index(metric)
    if place + 1 >= len(table.columns) or len(table) < _LEAST_ROWS:
        return []
    whole, behind = (table.iloc[:, n].fillna("").str.strip() for n in (place, place + 1))
    if not (whole.str.fullmatch(r"\d+").all() and behind.str.fullmatch(r"\d+").all()):
        return []
    counts = {*behind} <= {*map(str, range(len(table) + 1))}
    cells = behind.nunique() * table[SIZE].nunique()
    if counts or [*table][place + 1] == "iterations" or len(table) >= _LEAST_FILLED * cells:
        return []
    what = (
        f"{metric} is {whole.iloc[0]} and '{table.columns[place + 1]}' is {behind.iloc[0]}: if this"
        " is one number with a comma, write decimals with a point"
    )
    return [Problem(int(lines.iloc[0]), what)]
