"""Medians and midmeans of rows with missing values, without a loop over rows."""

from __future__ import annotations

import numpy as np

from switchpoint.tables.sweeps import Floats


def row_medians(values: Floats) -> Floats:
    """Return the median of each row without its NaN; NaN for a row without a value.

    Parameters
    ----------
    values : array of float, shape (..., columns)
    """
    if not values.shape[-1]:
        return np.full(values.shape[:-1], np.nan)
    ordered = np.sort(values, axis=-1)  # NaN is last
    count = np.isfinite(values).sum(axis=-1)[..., None]
    low = np.take_along_axis(ordered, np.maximum(count - 1, 0) // 2, axis=-1)
    high = np.take_along_axis(ordered, np.minimum(count // 2, values.shape[-1] - 1), axis=-1)
    return np.asarray(np.where(count > 0, (low + high) / 2, np.nan)[..., 0])


def row_midmeans(values: Floats) -> Floats:
    """Return the mean of the middle half of each row, without its NaN.

    It scatters less than a median, and a quarter of the values may be anything. Of three values it
    is the median.

    Parameters
    ----------
    values : array of float, shape (rows, columns)
    """
    ordered = np.sort(values, axis=-1)  # NaN is last
    count = np.isfinite(values).sum(axis=-1)
    cut = ((count + 1) // 4)[:, None]
    place = np.arange(values.shape[-1])
    middle = (place >= cut) & (place < count[:, None] - cut)
    sums = np.where(middle, ordered, 0.0).sum(axis=-1)
    number = middle.sum(axis=-1)
    return np.asarray(np.where(number > 0, sums / np.maximum(number, 1), np.nan))
