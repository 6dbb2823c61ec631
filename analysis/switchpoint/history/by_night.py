"""Arranges values of launches by night."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from switchpoint.history.medians import row_medians
from switchpoint.tables.curves import median_by
from switchpoint.tables.sweeps import Floats, Indices


def by_night(codes: Indices, night: Indices, values: Floats, shape: tuple[int, int]) -> Floats:
    """Return medians as a matrix: a row for each code, a column for each night, NaN without any."""
    matrix = np.full(shape, np.nan)
    if not len(values):
        return matrix
    cells, cell = np.unique(codes * shape[1] + night, return_inverse=True)
    matrix.ravel()[cells] = median_by(cell, values)
    return matrix


@dataclass(frozen=True)
class LaunchesByNight:
    """Values of launches, arranged by night.

    Attributes
    ----------
    nightly : array of float, shape (codes, nights)
        Median over the launches of a night; NaN without a launch.
    variance : array of float, shape (codes,)
        Between launches of a typical night: the median over nights, which a single disturbed
        night does not change. NaN if no night has two launches.
    number : array of int, shape (codes, nights)
        Number of launches.
    """

    nightly: Floats
    variance: Floats
    number: Indices


def launches_by_night(
    codes: Indices,
    night: Indices,
    values: Floats,
    shape: tuple[int, int],
    launch: Indices | None = None,
) -> LaunchesByNight:
    """Arrange values of launches: a row for each code, a column for each night.

    With the launch of each value, the variance is without what all values of a launch have in
    common.
    """
    nightly = by_night(codes, night, values, shape)
    number = np.zeros(shape, dtype=int)
    np.add.at(number, (codes, night), 1)
    off = values - nightly[codes, night]
    if launch is not None and len(launch):
        _, dense = np.unique(launch, return_inverse=True)
        off -= median_by(dense, off)[dense]
    squares = np.bincount(codes * shape[1] + night, off**2, minlength=number.size).reshape(shape)
    variance = np.where(number > 1, squares / np.maximum(number - 1, 1), np.nan)
    return LaunchesByNight(nightly, row_medians(variance), number)
