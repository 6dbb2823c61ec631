"""Checks the curves of a CSV file: rows that stand alone, and repeats that cannot be repeats."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from switchpoint.data_warnings import DataWarning
from switchpoint.importing.problems import Problem
from switchpoint.importing.same_curves import TABLE, Part, apart
from switchpoint.tables.measurements import repeated
from switchpoint.tables.unlike import LAUNCHES

#: More sweeps than a person would write one after the other are a data set with repeats.
_MOST_SWEEPS = 1000
_LEAST_SIZES = 3

_Codes = npt.NDArray[np.int64]


def curve_of_rows(names: pd.DataFrame) -> _Codes:
    """Return a number for the curve of each row; the columns are categories."""
    code = np.zeros(len(names), dtype="int64")
    for name in names:
        column = names[name].array
        code, _ = pd.factorize(code * (len(column.categories) + 1) + column.codes)
    return code


def lonely_rows(code: _Codes, lines: _Codes) -> list[Problem]:
    """Warn of rows whose names no other row has, in the middle of a curve, as behind a remark."""
    rows = np.bincount(code)
    alone = rows[code] == 1
    before, after = np.roll(code, 1), np.roll(code, -1)
    if len(rows) > 2 and len(code):  # a first or last row may be a curve of one size
        alone[[0, -1]] = False
    what = "no other row has the names of this one, so it is a curve of its own"
    return [
        Problem(int(line), what) for line in lines[alone & (before == after) & (before != code)]
    ]


def tables_apart(
    samples: pd.DataFrame, code: _Codes, lines: _Codes
) -> tuple[pd.Categorical, list[DataWarning]] | None:
    """Number the sweeps over a curve that differ by far more than noise.

    Returns
    -------
    A column for the samples, and warnings; None if all sweeps agree.
    """
    order = np.argsort(code, kind="stable")
    size, curve = samples["size_bytes"].to_numpy()[order], code[order]
    time_us, lines = samples["time_us"].to_numpy()[order], lines[order]
    new_curve = np.diff(curve, prepend=-1) != 0
    step = np.diff(size, prepend=-1)
    starts = np.flatnonzero((step <= 0) | new_curve)
    again = len(starts) > new_curve.sum() and not ((step == 0) & ~new_curve).any()
    if not again or len(starts) > _MOST_SWEEPS or len(size) < _LEAST_SIZES * len(starts):
        return None
    parts = []
    for start, end in zip(starts, [*starts[1:], len(size)], strict=True):
        rows, once = slice(start, end), np.ones(end - start, dtype="int64")
        names = {"curve": str(curve[start])}
        parts.append(Part(names, size[rows].astype(float), time_us[rows], once, lines[rows]))
    numbered, warnings = apart(parts, LAUNCHES)
    if not warnings:
        return None
    numbers = [part.identity.get(TABLE) for part in numbered]
    column = repeated(numbers, [len(part.lines) for part in numbered])
    return column[np.argsort(order)], warnings
