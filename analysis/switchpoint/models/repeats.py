"""The repeats behind a measured curve: its launches, or the passes of too few launches.

Samples of one launch agree more than the machine does, so that an interval comes from launches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from switchpoint.tables.sweeps import Floats

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


def repeats_of(passes: pd.DataFrame) -> Repeats:
    """Arrange the passes of one curve, as from `pass_medians`, by launch if there are enough."""
    runs = passes["run_id"].astype("str")
    by_launch = runs.nunique() >= LEAST_LAUNCHES
    repeat = runs if by_launch else runs + " " + passes["pass"].astype("str")
    sizes = passes["size_bytes"].to_numpy()
    medians = passes["time_us"].groupby([repeat.to_numpy(), sizes]).median()
    table = medians.unstack()  # noqa: PD010 (a series' own way)
    return Repeats(
        table.columns.to_numpy(dtype=float),
        table.to_numpy(dtype=float),
        "launches" if by_launch else "passes",
        tuple(sorted(set(runs))),
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
