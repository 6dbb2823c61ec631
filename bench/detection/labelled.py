"""The labelled curves: their switches' places from the settings, and the effects of the switches.

`curves.parquet` holds the curves that the rules were chosen on, on three grids. Files of
`record_unseen.py` hold curves by recipe, of which none was looked at.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
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

#: A switch that multiplies or divides the time by this much is a cliff.
CLIFF = 1.5


@dataclass
class Curve:
    """One labelled curve on one grid.

    Attributes
    ----------
    transport, limit, launch, grid
        Its properties; `limit` is 0 for controls, and `grid` may also be a recipe.
    first_byte : int
        First message size after the switch in bytes; 0 without a switch.
    size, time, error : array of float, shape (n,)
        Bytes, median microseconds, and the median's relative standard error.
    effect, scatter : float
        Relative change of time that the switch makes, without any detector, and the standard
        deviation of its logarithm among curves without it (`set_effects`); NaN in controls.
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
    scatter: float = field(default=np.nan)

    @cached_property
    def truth(self) -> int | None:
        """Index of the first size after the switch."""
        if not self.first_byte:
            return None
        return int(np.searchsorted(self.size, self.first_byte))

    @property
    def visible(self) -> bool:
        """Whether the switch changes the time by enough, and by more than the noise.

        Without repeats the noise is what the same sizes differ by in curves without the switch.
        """
        assert self.truth is not None
        near = self.error[max(self.truth - 3, 0) : self.truth + 3]
        noise = max(float(np.sqrt(np.mean(near**2))), float(np.median(self.error)))
        error = noise * np.sqrt(2 / 3) if noise else self.scatter
        return bool(
            abs(self.effect) >= VISIBLE and abs(np.log1p(self.effect)) >= VISIBLE_ERRORS * error
        )

    @property
    def is_cliff(self) -> bool:
        """Whether the switch changes the time by half or more."""
        return self.visible and abs(np.log1p(self.effect)) >= np.log(CLIFF)

    @property
    def held_out(self) -> bool:
        """Whether nothing was fitted on it: six of the limits, controls of all but one launch.

        Of other files, none was fitted on.
        """
        limits = [6000, 16384, 20000, 50000, 131072, 262144]
        fitted = self.limit not in limits and (self.limit > 0 or self.launch == 0)
        return self.grid not in GRIDS or not fitted


def curves(passes: int | None = None) -> Iterator[Curve]:
    """Every curve of `curves.parquet` on every grid, of all passes or of so many."""
    whole = list(_read(CURVES, passes))
    set_effects(whole)
    for curve in whole:
        for grid, per_octave in GRIDS.items():
            on = _on_grid(curve.size, per_octave)
            yield replace(
                curve, grid=grid, size=curve.size[on], time=curve.time[on], error=curve.error[on]
            )


def unseen(path: Path) -> list[Curve]:
    """Every curve of a file of `record_unseen.py`; `grid` is its recipe."""
    found = list(_read(path))
    set_effects(found)
    return found


def _read(path: Path, passes: int | None = None) -> Iterator[Curve]:
    table = pd.read_parquet(path)
    if passes is not None:
        table = table[table["pass"] < passes]
    table = table.assign(time_us=table.pop("time_ns") / 1e3, sample=0, iterations=1)
    names = ["transport", "limit", "launch", "first_byte"]
    names += ["recipe"] if "recipe" in table else []
    points = summarise(table.astype(dict.fromkeys(names, "category")))
    for key, part in points.groupby(names, observed=True):
        known = dict(zip(names, key, strict=True))
        time = part["time_us"].to_numpy()
        yield Curve(
            transport=str(known["transport"]),
            limit=int(known["limit"]),
            launch=int(known["launch"]),
            grid=str(known.get("recipe", "")),
            first_byte=int(known["first_byte"]),
            size=part["size_bytes"].to_numpy(dtype=float),
            time=time,
            error=part["error_us"].to_numpy() / time,
        )


def launches(every: Iterable[Curve]) -> list[list[Curve]]:
    """Group curves that were launched several times: all but the launch is the same."""
    alike: dict[tuple[str, str, int, bytes], list[Curve]] = defaultdict(list)
    for curve in every:
        alike[curve.transport, curve.grid, curve.limit, curve.size.tobytes()].append(curve)
    return list(alike.values())


def _on_grid(measured: Floats, per_octave: int) -> npt.NDArray[np.bool_]:
    """Return which sizes are nearest to a grid with this many sizes an octave."""
    exponents = np.log2(measured)
    wanted = np.arange(np.ceil(exponents[-1]) * per_octave + 1) / per_octave
    nearest = np.abs(exponents[None, :] - wanted[:, None]).argmin(axis=1)
    return np.isin(np.arange(len(measured)), nearest)


def set_effects(every: list[Curve]) -> None:
    """Set how much each switch changes the time, without any detector: against other limits.

    The change from the three sizes before the switch to the three past it, less the usual change
    there of the curves of the same transport and grid whose own switch is not among these sizes.
    What all limits have in common cancels. Launches of one limit have one effect.
    """
    for same in launches(every):
        place, first = same[0].truth, same[0]
        if place is None or not 0 < place < len(first.size):
            continue
        before = slice(max(place - 3, 0), place)
        after = slice(place, place + 3)
        usual = [
            _change(first.size, one, before, after)
            for one in siblings(first, every)
            if not one.first_byte
            or not first.size[before][0] < one.first_byte <= first.size[after][-1]
        ]
        if len(usual) < 2:
            continue
        middle = float(np.median(usual))
        own = float(np.median([_change(first.size, one, before, after) for one in same]))
        for curve in same:
            curve.effect = float(np.expm1(own - middle))
            curve.scatter = 1.4826 * float(np.median(np.abs(np.array(usual) - middle)))


def siblings(curve: Curve, every: Iterable[Curve]) -> list[Curve]:
    """Curves of the same transport and grid with another limit, that reach as far."""
    return [
        one for one in every
        if (one.transport, one.grid) == (curve.transport, curve.grid)
        and one.limit != curve.limit and one.size[-1] >= curve.size[-1]
    ]  # fmt: skip


def _change(size: Floats, curve: Curve, before: slice, after: slice) -> float:
    """Return the change of the logarithm of a curve's time between some sizes, by medians."""
    times = np.interp(np.log(size), np.log(curve.size), np.log(curve.time))
    return float(np.median(times[after]) - np.median(times[before]))
