"""The repeats behind a measured curve: its launches, or the passes of too few launches.

Samples of one launch agree more than the machine does, so that an interval comes from launches.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from switchpoint.tables.columns import records
from switchpoint.tables.curves import median_by
from switchpoint.tables.sweeps import Floats, Indices

#: Fewer launches do not show their scatter. Passes stand in for them, and the model says so.
LEAST_LAUNCHES = 3

DRAWS = 200
SEED = 20261122
_TAILS = 2.5, 97.5


@dataclass(frozen=True)
class Repeats:
    """One curve as it was measured several times.

    Attributes
    ----------
    size_bytes : array of float, shape (sizes,)
        Ascending.
    times_us : array of float, shape (repeats, sizes)
        The median of each repeat; NaN where it did not measure a size.
    over : str
        `launches` or `passes`.
    runs : tuple of str
        The IDs of the runs.
    """

    size_bytes: Floats
    times_us: Floats
    over: str
    runs: tuple[str, ...]

    def sizes_from(self, first_bytes: float, last_bytes: float) -> npt.NDArray[np.bool_]:
        """Return which sizes lie in a range."""
        return (self.size_bytes >= first_bytes) & (self.size_bytes <= last_bytes)

    def medians_us(self) -> Floats:
        """Return the medians over the repeats, then those of bootstrap draws of repeats.

        Returns
        -------
        array of float, shape (1 + DRAWS, sizes)
            Only one row if there is one repeat, which shows no scatter.
        """
        count = len(self.times_us)
        every = _medians(self.times_us[None])
        if count < 2:
            return every
        drawn = np.random.default_rng(SEED).integers(0, count, (DRAWS, count))
        return np.concatenate([every, _medians(self.times_us[drawn])])


def pass_medians(samples: pd.DataFrame, identity: Sequence[str]) -> pd.DataFrame:
    """Return one row for each curve, size and pass, with the median of its samples."""
    keys = [*identity, "size_bytes", "pass"]
    return samples.groupby(keys, dropna=False, observed=True)["time_us"].median().reset_index()


def repeats_by(
    passes: pd.DataFrame, keys: Sequence[str]
) -> Iterator[tuple[dict[str, Any], Repeats]]:
    """Yield the repeats of each curve, with its values of the keys (None for nulls).

    Parameters
    ----------
    passes
        As from `pass_medians`.
    keys
        The columns that distinguish curves. Without the run, a curve has several launches.
    """
    curve = passes.groupby([*keys], dropna=False, observed=True, sort=True).ngroup().to_numpy()
    order = np.argsort(curve, kind="stable")
    edges = np.flatnonzero(np.diff(curve[order])) + 1
    parts = np.split(order, edges)
    firsts = [rows[0] for rows in parts if len(rows)]
    named = records(passes[[*keys]].iloc[firsts])
    run, names = pd.factorize(passes["run_id"].astype("str"))
    number, size, time_us = (passes[name].to_numpy() for name in ("pass", "size_bytes", "time_us"))
    for values, rows in zip(named, parts, strict=False):
        repeats = _repeats(run[rows], number[rows], size[rows], time_us[rows], names)
        yield {str(name): value for name, value in values.items()}, repeats


def _repeats(
    run: Indices, number: Indices, size_bytes: Indices, time_us: Floats, names: pd.Index[str]
) -> Repeats:
    """Arrange the passes of one curve as a table, by launch if there are enough."""
    runs = np.unique(run)
    by_launch = len(runs) >= LEAST_LAUNCHES
    repeats, row = np.unique(
        run if by_launch else run * (number.max() + 1) + number, return_inverse=True
    )
    sizes, column = np.unique(size_bytes, return_inverse=True)
    cells, cell = np.unique(row * len(sizes) + column, return_inverse=True)
    times = np.full(len(repeats) * len(sizes), np.nan)
    times[cells] = median_by(cell, time_us)
    return Repeats(
        sizes.astype(float),
        times.reshape(len(repeats), len(sizes)),
        "launches" if by_launch else "passes",
        tuple(sorted(str(names[code]) for code in runs)),
    )


def interval(draws: Floats) -> tuple[float, float] | None:
    """Return the 95 % percentile interval of a figure (first) and its draws (the others)."""
    if len(draws) < 2:
        return None
    low, high = np.nanpercentile(draws[1:], _TAILS)
    return float(low), float(high)


def _medians(times: Floats) -> Floats:
    """Return medians over repeats, of shape (draws, repeats, sizes), without those missing."""
    with np.errstate(invalid="ignore"):
        if np.isfinite(times).all():
            return np.asarray(np.median(times, axis=1))
        filled = np.where(np.isfinite(times).any(axis=1, keepdims=True), times, 1.0)
        medians = np.nanmedian(filled, axis=1)
        return np.where(np.isfinite(times).any(axis=1), medians, np.nan)
