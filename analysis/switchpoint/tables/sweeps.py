"""Samples sorted into curves: the identity of each curve, and the curve of each sample.

This is computed once when samples arrive, and later stages use it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from switchpoint.tables.columns import identity_columns, records
from switchpoint.tables.identity import CurveIdentity

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.integer[Any]]

#: The kernel that searches, in tables also each other that did. Its sizes depend on the search, so
#: its samples are not a curve.
ZOOM = "zoom"


@dataclass(frozen=True)
class Sweeps:
    """Samples of any number of curves.

    Attributes
    ----------
    curves : DataFrame
        One row per curve, in the order of its columns, which are the identity.
    curve : array of int
        For each sample: its row in `curves`.
    size_bytes, number, time_us : array
        For each sample: message size, number of its pass, time.
    """

    curves: pd.DataFrame
    curve: Indices
    size_bytes: Indices
    number: Indices
    time_us: Floats

    @classmethod
    def of(cls, samples: pd.DataFrame) -> Sweeps:
        """Sort the samples of a table into curves, without the samples of searches."""
        if "kernel" in samples and (samples["kernel"] == ZOOM).any():
            samples = samples[samples["kernel"] != ZOOM]
        identity = identity_columns(samples)
        curve = _groups(samples, identity)
        first = np.zeros(curve.max(initial=-1) + 1, dtype=np.intp)
        first[curve[::-1]] = np.arange(len(samples) - 1, -1, -1)  # the last write remains
        return cls(
            samples[identity].iloc[first].reset_index(drop=True),
            curve,
            samples["size_bytes"].to_numpy(),
            samples["pass"].to_numpy(),
            samples["time_us"].to_numpy(),
        )

    @property
    def identity(self) -> list[str]:
        """Columns that distinguish the curves."""
        return [str(name) for name in self.curves]

    def take(self, rows: Indices) -> Sweeps:
        """Select samples and their curves."""
        members, curve = np.unique(self.curve[rows], return_inverse=True)
        return Sweeps(
            self.curves.iloc[members].reset_index(drop=True),
            curve,
            self.size_bytes[rows],
            self.number[rows],
            self.time_us[rows],
        )

    def identities(self) -> list[CurveIdentity]:
        """Return the identity of each curve."""
        return records(self.curves, CurveIdentity)

    def same_but_for_the_run(self) -> Indices:
        """Number the curves in their order; launches of one curve get the same number."""
        return _groups(self.curves, [name for name in self.identity if name != "run_id"])


def _groups(table: pd.DataFrame, names: list[str]) -> Indices:
    """Number the rows by their values in some columns, in the order of these; nulls are equal.

    As `groupby` does, but several times faster for the few rows of one curve.
    """
    number = np.zeros(len(table), dtype=np.int64)
    for name in names:
        column = table[name].array
        if isinstance(column, pd.Categorical):
            codes, values = column.codes, len(column.categories)
        else:
            codes, unique = pd.factorize(column, sort=True)
            values = len(unique)
        # Nulls have the code -1, and come last.
        number = number * (values + 1) + np.where(codes < 0, values, codes)
        number = pd.factorize(number, sort=True)[0]
    return number
