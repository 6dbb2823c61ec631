"""Samples sorted into curves: what tells each curve apart, and which curve each sample is of.

This is settled once, where samples come in; the stages after it take it from here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from switchpoint.tables.columns import identity_columns

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.integer[Any]]

#: The kernel whose samples lie where its search led it: they make no curve.
ZOOM = "zoom"


@dataclass(frozen=True)
class Sweeps:
    """Samples of any number of curves.

    Attributes
    ----------
    curves : DataFrame
        One row per curve, in the order of its columns, which are the identity.
    curve : array of int
        Of each sample: its row in `curves`.
    size_bytes, number, time_us : array
        Of each sample: message size, number of its pass, time.
    """

    curves: pd.DataFrame
    curve: Indices
    size_bytes: Indices
    number: Indices
    time_us: Floats

    @classmethod
    def of(cls, samples: pd.DataFrame) -> Sweeps:
        """Sort the samples of a table into curves, without those that a search took."""
        if "kernel" in samples and (samples["kernel"] == ZOOM).any():
            samples = samples[samples["kernel"] != ZOOM]
        identity = identity_columns(samples)
        curve: Indices = np.zeros(len(samples), dtype=np.intp)
        if identity:
            grouped = samples.groupby(identity, dropna=False, observed=True, sort=True)
            curve = grouped.ngroup().to_numpy()
        first = np.zeros(curve.max(initial=-1) + 1, dtype=np.intp)
        first[curve[::-1]] = np.arange(len(samples) - 1, -1, -1)  # what is written last stays
        return cls(
            samples[identity].iloc[first].reset_index(drop=True),
            curve,
            samples["size_bytes"].to_numpy(),
            samples["pass"].to_numpy(),
            samples["time_us"].to_numpy(),
        )

    @property
    def identity(self) -> list[str]:
        """Columns that tell the curves apart."""
        return [str(name) for name in self.curves]

    def take(self, rows: Indices) -> Sweeps:
        """Select samples, and the curves that they are of."""
        members, curve = np.unique(self.curve[rows], return_inverse=True)
        return Sweeps(
            self.curves.iloc[members].reset_index(drop=True),
            curve,
            self.size_bytes[rows],
            self.number[rows],
            self.time_us[rows],
        )

    def identities(self) -> list[dict[Any, Any]]:
        """Name each curve: the values of its identity."""
        return self.curves.to_dict("records")

    def same_but_for_the_run(self) -> Indices:
        """Number the curves in their order, launches of one curve alike."""
        alike = [name for name in self.identity if name != "run_id"]
        if not alike:
            return np.zeros(len(self.curves), dtype=np.intp)
        grouped = self.curves.groupby(alike, dropna=False, observed=True, sort=True)
        return grouped.ngroup().to_numpy()
