"""Arranges values of launches by session; medians and midmeans of rows with missing values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from switchpoint.tables.curves import median_by
from switchpoint.tables.sweeps import Floats, Indices


def by_session(codes: Indices, session: Indices, values: Floats, shape: tuple[int, int]) -> Floats:
    """Return medians as a matrix: a row for each code, a column for each session; NaN if none."""
    matrix = np.full(shape, np.nan)
    if not len(values):
        return matrix
    cells, cell = np.unique(codes * shape[1] + session, return_inverse=True)
    matrix.ravel()[cells] = median_by(cell, values)
    return matrix


@dataclass(frozen=True)
class LaunchesBySession:
    """Values of launches, arranged by session.

    Attributes
    ----------
    per_session : array of float, shape (codes, sessions)
        The median of the launches of a session; NaN without a launch.
    variance : array of float, shape (codes,)
        Between launches of a typical session: the median over sessions, which a single disturbed
        session does not change. NaN if no session has two launches.
    number : array of int, shape (codes, sessions)
        Number of launches.
    each : array of float, shape (codes, sessions, launches)
        The values themselves, those of a session in the order of its launches; NaN where a session
        has fewer.
    """

    per_session: Floats
    variance: Floats
    number: Indices
    each: npt.NDArray[np.float32]

    @classmethod
    def single(cls, per_session: Floats) -> LaunchesBySession:
        """Return sessions of one launch each."""
        unknown = np.full(len(per_session), np.nan)
        return cls(
            per_session,
            unknown,
            np.isfinite(per_session).astype(int),
            per_session[:, :, None].astype(np.float32),
        )

    @classmethod
    def joined(cls, parts: Sequence[LaunchesBySession]) -> LaunchesBySession:
        """Join the codes of several."""
        most = max((part.each.shape[2] for part in parts), default=0)
        each = [
            np.pad(
                part.each, ((0, 0), (0, 0), (0, most - part.each.shape[2])), constant_values=np.nan
            )
            for part in parts
        ]
        return cls(
            np.concatenate([part.per_session for part in parts]),
            np.concatenate([part.variance for part in parts]),
            np.concatenate([part.number for part in parts]),
            np.concatenate(each),
        )

    def less(self, per_session: Floats) -> LaunchesBySession:
        """Return them less what is known of each session."""
        each = (self.each - per_session[:, :, None]).astype(np.float32)
        return replace(self, per_session=self.per_session - per_session, each=each)


def launches_by_session(
    codes: Indices,
    session: Indices,
    values: Floats,
    shape: tuple[int, int],
    launch: Indices | None = None,
) -> LaunchesBySession:
    """Arrange values of launches: a row for each code, a column for each session.

    With the launch of each value, the variance is without what all values of a launch have in
    common.
    """
    per_session = by_session(codes, session, values, shape)
    cell = codes * shape[1] + session
    number = np.bincount(cell, minlength=shape[0] * shape[1]).reshape(shape)
    off = values - per_session[codes, session]
    if launch is not None and len(launch):
        _, dense = np.unique(launch, return_inverse=True)
        off = off - median_by(dense, off)[dense]
    return LaunchesBySession(
        per_session, _variance(cell, off, number), number, _each(cell, values, number)
    )


def _variance(cell: Indices, off: Floats, number: Indices) -> Floats:
    """Return the variance of launches in a typical session by how far they are from its middle."""
    squares = np.bincount(cell, off**2, minlength=number.size).reshape(number.shape)
    return row_medians(np.where(number > 1, squares / np.maximum(number - 1, 1), np.nan))


def _each(cell: Indices, values: Floats, number: Indices) -> npt.NDArray[np.float32]:
    """Arrange values by cell, those of a cell in their order; half the digits save memory."""
    order = np.argsort(cell, kind="stable")
    begins = np.cumsum(number.ravel()) - number.ravel()
    most = int(number.max(initial=0))
    each = np.full((number.size, most), np.nan, dtype=np.float32)
    each[cell[order], np.arange(len(cell)) - begins[cell[order]]] = values[order]
    return each.reshape(*number.shape, most)


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
