"""Checks the times of a table by the rates beside them: a rate is a multiple of size / time.

A row in which a digit was changed does not agree with the others. If the columns are swapped, all
rows still agree, but then the times of the smallest messages grow with the size.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from switchpoint.importing.row_forms import decimals

_Numbers = npt.NDArray[np.float64]

#: What is said of a row, and of a table.
DISAGREES = (
    "time and rate do not agree as in the other rows, so one of them is wrong: it is skipped"
)
SWAPPED = "the columns of times and rates are swapped: the table is skipped; correct the file"

#: So many rows with both, of which this share agrees, show what a rate is.
_LEAST_ROWS = 5
_LEAST_SHARE = 0.75

#: Beside the last printed digit: benchmarks round, and divide by other averages than they print.
_TOLERANCE = 0.03

#: Within so many bytes a time hardly grows, and beyond so many it grows with the size.
_SMALL_BYTES, _LARGE_BYTES = 64, 2**18

#: By how much sizes have to differ, and the exponents of growth that distinguish the columns.
_LEAST_FACTOR = 4
_LEAST_PAIRS, _MOST_SIZES = 3, 100
_HARDLY, _WITH_THE_SIZE = 0.3, 0.7


def step_of(text: str) -> float:
    """Return the step of the last printed digit of a number."""
    return float(10.0 ** -(decimals(text) or 0))


def disagreeing(
    size: _Numbers, time: _Numbers, rate: _Numbers, time_step: _Numbers, rate_step: _Numbers
) -> npt.NDArray[np.bool_]:
    """Return which rows have a time and a rate that do not agree as those of all others do."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        multiple = time * rate / size
        allowed = _TOLERANCE + time_step / time + rate_step / rate
    both = np.isfinite(multiple) & (multiple > 0)
    if both.sum() < _LEAST_ROWS:
        return np.zeros(len(size), dtype=bool)
    usual = np.median(multiple[both])
    agrees = both & (np.abs(np.log(np.where(both, multiple, usual) / usual)) <= allowed)
    if agrees.sum() < _LEAST_SHARE * both.sum():
        return np.zeros(len(size), dtype=bool)
    return np.asarray(both & ~agrees)


def are_swapped(size: _Numbers, time: _Numbers, rate: _Numbers) -> bool:
    """Return whether times behave as rates do, and rates as times.

    An empty message takes time, and moves nothing.
    """
    empty = size == 0
    if (empty & ((time > 0) | (rate > 0))).any():
        return bool((time[empty] == 0).all())
    small = (size > 0) & (size <= _SMALL_BYTES)
    large = size >= _LARGE_BYTES
    return (
        _growth(size, time, small) > _WITH_THE_SIZE and abs(_growth(size, rate, small)) < _HARDLY
    ) or (abs(_growth(size, time, large)) < _HARDLY and _growth(size, rate, large) > _WITH_THE_SIZE)


def _growth(size: _Numbers, value: _Numbers, rows: npt.NDArray[np.bool_]) -> float:
    """Return the exponent with which a value grows with some sizes; NaN if it is not known.

    It is the median over all pairs of sizes that differ enough (Theil and Sen), since single times
    may be a hundred times too long.
    """
    places = np.flatnonzero(rows & (value > 0) & np.isfinite(value))[:_MOST_SIZES]
    x, y = np.log(size[places]), np.log(value[places])
    apart = x[:, None] - x >= np.log(_LEAST_FACTOR)
    if apart.sum() < _LEAST_PAIRS:
        return float("nan")
    return float(np.median((y[:, None] - y)[apart] / (x[:, None] - x)[apart]))
