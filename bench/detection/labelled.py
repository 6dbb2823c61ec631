"""The labelled curves of `curves.parquet` on three grids, and the effects of their switches."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
from switchpoint.tables.curves import summarise
from switchpoint.tables.sweeps import Floats

CURVES = Path(__file__).with_name("curves.parquet")

#: Sizes an octave. All were measured with 9; the others are subsets of the same curves.
GRIDS = {"9 an octave": 9, "3 an octave": 3, "powers of two": 1}

#: A switch is visible in a curve if it changes the time by at least this relative amount, and by
#: this many standard errors of the three medians on either side.
VISIBLE = 0.1
VISIBLE_ERRORS = 5


@dataclass
class Curve:
    """One labelled curve on one grid.

    Attributes
    ----------
    transport, limit, launch, grid
        Its properties; `limit` is 0 for controls.
    first_byte : int
        First message size after the switch in bytes; 0 without a switch.
    size, time, error : array of float, shape (n,)
        Bytes, median microseconds, and the median's relative standard error.
    effect : float
        Relative change of time that the switch makes (`_effects`); NaN in controls.
    """

    transport: str
    limit: int
    launch: int
    grid: str
    first_byte: int
    size: Floats
    time: Floats
    error: Floats
    effect: float = field(default=np.nan)

    @cached_property
    def truth(self) -> int | None:
        """Index of the first size after the switch."""
        if not self.first_byte:
            return None
        return int(np.searchsorted(self.size, self.first_byte))

    @property
    def visible(self) -> bool:
        """Whether the switch changes the time by enough, and by more than the noise."""
        assert self.truth is not None
        near = self.error[max(self.truth - 3, 0) : self.truth + 3]
        noise = max(float(np.sqrt(np.mean(near**2))), float(np.median(self.error)))
        error = noise * np.sqrt(2 / 3)
        return bool(
            abs(self.effect) >= VISIBLE and abs(np.log1p(self.effect)) >= VISIBLE_ERRORS * error
        )

    @property
    def held_out(self) -> bool:
        """Whether nothing was fitted on it: six of the limits, controls of all but one launch."""
        limits = [6000, 16384, 20000, 50000, 131072, 262144]
        return self.limit in limits or (self.limit == 0 and self.launch > 0)


def curves() -> Iterator[Curve]:
    """Every recorded curve on every grid."""
    table = pd.read_parquet(CURVES)
    table = table.assign(time_us=table.pop("time_ns") / 1e3, sample=0, iterations=1)
    names = ["transport", "limit", "launch", "first_byte"]
    points = summarise(table.astype(dict.fromkeys(names, "category")))
    effects = _effects(points)
    for (transport, limit, launch, first), curve in points.groupby(names, observed=True):
        for grid, per_octave in GRIDS.items():
            part = curve[_on_grid(curve["size_bytes"].to_numpy(dtype=float), per_octave)]
            time = part["time_us"].to_numpy()
            yield Curve(
                transport=str(transport),
                limit=int(limit),
                launch=int(launch),
                grid=grid,
                first_byte=int(first),
                size=part["size_bytes"].to_numpy(dtype=float),
                time=time,
                error=part["error_us"].to_numpy() / time,
                effect=effects.get((transport, limit), np.nan),
            )


def launches(every: Iterable[Curve]) -> list[list[Curve]]:
    """Group curves that were launched several times: one transport and limit, the same sizes."""
    alike: dict[tuple[str, int, bytes], list[Curve]] = defaultdict(list)
    for curve in every:
        alike[curve.transport, curve.limit, curve.size.tobytes()].append(curve)
    return list(alike.values())


def _on_grid(measured: Floats, per_octave: int) -> npt.NDArray[np.bool_]:
    """Return which sizes are nearest to a grid with this many sizes an octave."""
    exponents = np.log2(measured)
    wanted = np.arange(np.ceil(exponents[-1]) * per_octave + 1) / per_octave
    nearest = np.abs(exponents[None, :] - wanted[:, None]).argmin(axis=1)
    return np.isin(np.arange(len(measured)), nearest)


def _effects(points: pd.DataFrame) -> dict[tuple[str, int], float]:
    """How much each switch changes the time, without any detector: against other limits.

    The change from the three sizes before the switch to the three past it, less the usual change
    there of the same transport's curves whose limit is so far away that all six sizes are on one
    side of it; medians over sizes and launches. What all limits have in common cancels.
    """
    effects = {}
    for transport, part in points.groupby("transport", observed=True):
        logs = np.log(
            part.pivot_table(
                index="size_bytes", columns=["limit", "launch"], values="time_us", observed=True
            )
        )
        limits = logs.columns.get_level_values("limit").astype(int).to_numpy()
        edges = part.groupby("limit", observed=True)["first_byte"].first().astype(int)
        for limit, byte in edges[edges > 0].items():
            place = int(np.searchsorted(logs.index, byte))
            change = logs.iloc[place : place + 3].median() - logs.iloc[place - 3 : place].median()
            low, high = logs.index[place - 3], logs.index[min(place + 2, len(logs) - 1)]
            elsewhere = edges.reindex(limits).to_numpy()
            far = (elsewhere <= low) | (elsewhere > high)
            own = change[limits == limit].median()
            effects[(transport, limit)] = float(np.expm1(own - change[far].median()))
    return effects
