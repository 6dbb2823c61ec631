"""The labelled curves: their switches' places from the settings, and the effects of the switches.

`curves.parquet` holds the curves that the rules were chosen on, on three grids. Files of
`record_unseen.py` hold curves by recipe, of which none was looked at.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
from switchpoint.tables.curves import compare_passes, summarise_passes, with_levels
from switchpoint.tables.sweeps import Floats, Sweeps

CURVES = Path(__file__).with_name("curves.parquet")
UNSEEN = Path(__file__).with_name("unseen.parquet")

#: Files whose curves are witnesses of each other. Any other file is of another machine, where the
#: times differ and may change elsewhere.
TOGETHER = ("curves.parquet", "unseen.parquet", "held.parquet")

#: Sizes an octave. All were measured with 9; the others are subsets of the same curves.
GRIDS = {"9 an octave": 9, "3 an octave": 3, "powers of two": 1}

#: A switch is visible in a curve if it changes the time by at least this relative amount, and by
#: this many standard errors of the three medians on either side.
VISIBLE = 0.1
VISIBLE_ERRORS = 5

#: A switch that multiplies or divides the time by this much is a cliff, if the two sizes around it
#: differ by as much beyond the slopes beside them, and by this many times their noise.
CLIFF = 1.5
CLIFF_ERRORS = 3

#: Curves with other limits say something about a place if there are so many.
FEWEST_WITNESSES = 2

#: A change in other curves confirms one if it is at least this part of it.
CONFIRMING = 0.5

#: It does so if this share of them agree.
CONFIRMING_SHARE = 0.25

#: Smaller changes of the logarithm of time confirm nothing.
LEAST_CHANGE = 0.03

#: Sizes within this factor of a bracket are beside it, and at least this many.
BESIDE = 2.5
FEWEST_BESIDE = 3


@dataclass(frozen=True)
class Place:
    """A place where the time changes in all curves of some placements, as their settings say.

    Attributes
    ----------
    placements : str
        Pattern of the placements.
    first_byte : int
        First message size after the change.
    why : str
        The setting, and what shows that the change is there.
    """

    placements: str
    first_byte: int
    why: str


#: Other measurements than these curves found each of them: `tcp_segment`, `tcp_bundle` and
#: `shaper_burst` in `analysis/switchpoint/explanation/catalogue.yaml` say how.
PLACES = [
    Place(
        "one_node_network",
        65461,
        "one TCP segment on lo: MTU 65536 leaves 65,483 B, less a message header of 22 B; located"
        " to the byte with the eager limit moved away",
    ),
    Place(
        "two_nodes_.*",
        1424,
        "one TCP segment on a link: MTU 1500 leaves 1,448 B, less a message header of 25 B",
    ),
    *(
        Place(
            "two_nodes_one_host",
            segments - 24,
            "bundles of TCP segments, 65,160 B each at MTU 1500, less a message header of 25 B;"
            " located to the byte for two, three and four bundles",
        )
        for segments in (65160, 2 * 65160, 3 * 65160, 4 * 65160)
    ),
    Place(
        "two_nodes_two_hosts",
        262125,
        "the burst of the testbed's uplinks, 128 KiB: ping-pong fills one in each direction;"
        " located to the byte",
    ),
]


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
        Bytes, median microseconds, and the relative standard error of the median, as its own
        samples and passes show it. Labels and peers use these.
    level, level_error : array of float, shape (n,)
        The time that `detect` uses for each size, and its relative standard error.
    effect, scatter : float
        Relative change of time that the switch makes, without any detector, and by how much the
        logarithms of the curve's times differ from those of curves with other limits, from size to
        size (`set_effects`); NaN in controls.
    by_recipe : bool
        Whether `grid` is a recipe.
    recording : str
        The file whose curves are its witnesses; empty: those of `TOGETHER`.
    """

    transport: str
    limit: int
    launch: int
    grid: str
    first_byte: int
    size: Floats
    time: Floats
    error: Floats
    level: Floats
    level_error: Floats
    effect: float = field(default=np.nan)
    scatter: float = field(default=np.nan)
    by_recipe: bool = False
    recording: str = ""

    @cached_property
    def truth(self) -> int | None:
        """Index of the first size after the switch."""
        if not self.first_byte:
            return None
        return int(np.searchsorted(self.size, self.first_byte))

    @property
    def visible(self) -> bool:
        """Whether the switch changes the time by enough, and by more than the noise.

        Without repeats the noise is how much the curve differs from others, from size to size.
        """
        assert self.truth is not None
        near = self.error[max(self.truth - 3, 0) : self.truth + 3]
        noise = max(float(np.sqrt(np.mean(near**2))), float(np.median(self.error)))
        error = noise * np.sqrt(2 / 3) if self.has_repeats else self.scatter
        return bool(
            abs(self.effect) >= VISIBLE and abs(np.log1p(self.effect)) >= VISIBLE_ERRORS * error
        )

    @property
    def is_cliff(self) -> bool:
        """Whether the switch changes the time by half or more, and the two sizes around it do.

        What another change takes back between the same two sizes is no cliff of this curve.
        """
        assert self.truth is not None
        errors = np.maximum(self.error, np.median(self.error)) if self.has_repeats else self.scatter
        noise = float(np.hypot(*np.broadcast_to(errors, self.size.shape)[self.truth - 1 :][:2]))
        shown = self.beyond_slopes(self.truth)
        large = min(abs(np.log1p(self.effect)), shown) >= np.log(CLIFF)
        return bool(self.visible and large and shown >= CLIFF_ERRORS * noise)

    @property
    def has_repeats(self) -> bool:
        """Whether sizes were measured more than once, so that their errors are known."""
        return bool(np.median(self.error) > 0)

    def beyond_slopes(self, place: int) -> float:
        """Return how far the times of two neighbouring sizes are apart, as a logarithm.

        Without what the steeper of the lines beside them explains, each to the nearest size that is
        at least half their distance away.
        """
        size, time = self.size, self.time
        gap = size[place] - size[place - 1]
        left = int(np.searchsorted(size, size[place - 1] - gap / 2, side="right")) - 1
        right = int(np.searchsorted(size, size[place] + gap / 2))
        slopes = [0.0]
        if left >= 0:
            slopes.append((time[place - 1] - time[left]) / (size[place - 1] - size[left]))
        if right < len(size):
            slopes.append((time[right] - time[place]) / (size[right] - size[place]))
        aimed = time[place - 1] + max(slopes) * gap
        return float(np.log(max(time[place] / aimed, time[place - 1] / time[place])))

    @cached_property
    def changes_by_setting(self) -> list[int]:
        """First sizes in bytes after its switch and after `PLACES`."""
        placement = self.transport.partition("-")[2]
        places = [one.first_byte for one in PLACES if re.fullmatch(one.placements, placement)]
        return [self.first_byte, *places] if self.first_byte else places

    def time_at(self, size: Floats) -> Floats:
        """Return the times at other sizes, between its own; NaN beyond them."""
        logs = np.interp(np.log(size), np.log(self.size), np.log(self.time), np.nan, np.nan)
        return np.asarray(np.exp(logs))

    def before_switch(self, byte: float) -> bool:
        """Whether the switch comes after this size, also between its own sizes around it."""
        around = min(int(np.searchsorted(self.size, byte)), len(self.size) - 1)
        return not self.first_byte or self.size[around] < self.first_byte

    def after_switch(self, byte: float) -> bool:
        """Whether the switch came before this size, also between its own sizes around it."""
        around = max(int(np.searchsorted(self.size, byte, side="right")) - 1, 0)
        return 0 < self.first_byte <= self.size[around]

    def change(self, low: float, high: float) -> float:
        """Return its own of `changes` in a bracket, without its switch if that lies elsewhere."""
        alike = np.ones(len(self.size), dtype=bool)
        if high < self.first_byte:
            alike = self.size < self.first_byte
        elif 0 < self.first_byte <= low:
            alike = self.size >= self.first_byte
        return float(changes(self.size[alike], self.time[None, alike], low, high)[0])

    @property
    def paced(self) -> bool:
        """Whether the sender paused before each message, so that the link had recovered."""
        return self.grid == "paced"

    @property
    def held_out(self) -> bool:
        """Whether nothing was fitted on it: six of the limits, controls of all but one launch.

        Of other files, half of the curves: launches of one curve are in the same half.
        """
        if self.by_recipe:
            name = f"{self.transport} {self.grid} {self.limit}"
            return hashlib.sha1(name.encode()).digest()[0] % 2 == 1
        limits = [6000, 16384, 20000, 50000, 131072, 262144]
        fitted = self.limit not in limits and (self.limit > 0 or self.launch == 0)
        return not fitted


def curves(passes: int | None = None) -> Iterator[Curve]:
    """Every curve of `curves.parquet` on every grid, of all passes or of so many."""
    for curve in whole(passes):
        for grid, per_octave in GRIDS.items():
            on = on_grid(curve.size, per_octave)
            yield replace(
                curve,
                grid=grid,
                size=curve.size[on],
                time=curve.time[on],
                error=curve.error[on],
                level=curve.level[on],
                level_error=curve.level_error[on],
            )


@cache
def whole(passes: int | None = None) -> list[Curve]:
    """Every curve of `curves.parquet` at all its sizes."""
    found = [replace(curve, grid="9 an octave") for curve in _read(CURVES, passes)]
    set_effects(found, pool() if passes is None else found)
    return found


def unseen(path: Path) -> list[Curve]:
    """Every curve of a file of `record_unseen.py`; `grid` is its recipe."""
    recording = "" if path.name in TOGETHER else str(path)
    found = [replace(one, recording=recording) for one in _read(path)]
    set_effects(found, [*pool(recording), *found])
    return found


@cache
def pool(recording: str = "") -> list[Curve]:
    """Every curve of a recording, at all its sizes, as a witness of others."""
    if recording:
        return list(_read(Path(recording)))
    return [*(replace(one, grid="9 an octave") for one in _read(CURVES)), *_read(UNSEEN)]


def _read(path: Path, passes: int | None = None) -> Iterator[Curve]:
    table = pd.read_parquet(path)
    if passes is not None:
        table = table[table["pass"] < passes]
    table = table.assign(time_us=table.pop("time_ns") / 1e3, sample=0, iterations=1)
    names = ["transport", "limit", "launch", "first_byte"]
    names += ["recipe"] if "recipe" in table else []
    sweeps = Sweeps.of(table.astype(dict.fromkeys(names, "category")))
    passes = compare_passes(sweeps)
    points = summarise_passes(sweeps, passes)
    levels = with_levels(points, passes)
    points["error"] = passes.error
    points["level_us"], points["level_error_us"] = levels["time_us"], levels["error_us"]
    for key, part in points.groupby(names, observed=True):
        known = dict(zip(names, key, strict=True))
        time = part["time_us"].to_numpy()
        yield Curve(
            transport=str(known["transport"]),
            limit=int(known["limit"]),
            launch=int(known["launch"]),
            grid=str(known.get("recipe", "")),
            by_recipe="recipe" in known,
            first_byte=int(known["first_byte"]),
            size=part["size_bytes"].to_numpy(dtype=float),
            time=time,
            error=part["error"].to_numpy(),
            level=part["level_us"].to_numpy(),
            level_error=(part["level_error_us"] / part["level_us"]).to_numpy(),
        )


def launches(every: Iterable[Curve]) -> list[list[Curve]]:
    """Group curves that were launched several times: all but the launch is the same."""
    alike: dict[tuple[str | int | bytes, ...], list[Curve]] = defaultdict(list)
    for curve in every:
        same = curve.recording, curve.transport, curve.grid, curve.limit, curve.size.tobytes()
        alike[same].append(curve)
    return list(alike.values())


def on_grid(measured: Floats, per_octave: int) -> npt.NDArray[np.bool_]:
    """Return which sizes are nearest to a grid with this many sizes an octave."""
    exponents = np.log2(measured)
    wanted = np.arange(np.ceil(exponents[-1]) * per_octave + 1) / per_octave
    nearest = np.abs(exponents[None, :] - wanted[:, None]).argmin(axis=1)
    return np.isin(np.arange(len(measured)), nearest)


class Witnesses:
    """Curves that show what the times of a curve do for other reasons than its own switch.

    They are of the same transport with another limit, and were measured in the same way, whatever
    their sizes. `every` are those of its recording.
    """

    def __init__(self, curve: Curve, every: Iterable[Curve]) -> None:
        self.curve = curve
        self._of = [
            one for one in every
            if one.transport == curve.transport and one.paced == curve.paced
            and one.limit != curve.limit
        ]  # fmt: skip
        self._times = np.array([one.time_at(curve.size) for one in self._of])

    def change(self, low: float, high: float) -> Floats:
        """Return the `changes` in a bracket of those that use the same protocol all around it."""
        curve, first, last = self.curve, low / BESIDE, high * BESIDE
        alike = [
            (one.before_switch(last) and curve.before_switch(last))
            or (one.after_switch(first) and curve.after_switch(first))
            for one in self._of
        ]
        if sum(alike) < FEWEST_WITNESSES:
            # The switch itself is near, so one of the two is the protocol on either side of it.
            alike = [one.before_switch(last) or one.after_switch(first) for one in self._of]
        times = self._times[np.array(alike, dtype=bool)].reshape(-1, len(curve.size))
        found = changes(curve.size, times, low, high)
        return found[np.isfinite(found)]

    def confirm(self, low: float, high: float, own: float) -> bool:
        """Return whether they confirm a change of the logarithm of time in a bracket.

        A quarter of them, and at least two, change in the same direction and at least half as much.
        """
        elsewhere = self.change(low, high)
        alike = elsewhere * np.sign(own) >= max(CONFIRMING * abs(own), LEAST_CHANGE)
        return bool(alike.sum() >= max(FEWEST_WITNESSES, CONFIRMING_SHARE * len(elsewhere)))

    def effect(self) -> tuple[float, float]:
        """Return the change of the logarithm of time that the switch makes at its first byte.

        The curve before it is compared with those that switch later, the curve after it with those
        that switch earlier, each at the three nearest sizes. Also return the scatter of the curve
        around the others from size to size: of these sizes or of all, whichever is larger.
        """
        curve, place, byte = self.curve, self.curve.truth, float(self.curve.first_byte)
        assert place is not None
        sides, apart = [], []
        for near, side in (
            (slice(max(place - 3, 0), place), [one.before_switch(byte) for one in self._of]),
            (slice(place, place + 3), [one.after_switch(byte) for one in self._of]),
        ):
            reach = np.isfinite(self._times[:, near]).any(axis=1)
            rows = np.flatnonzero(np.array(side, dtype=bool) & reach)
            if len(rows) < FEWEST_WITNESSES or not len(curve.size[near]):
                return np.nan, np.nan
            slower = np.log(curve.time[near] / self._times[rows][:, near])
            usual = np.nanmedian(slower, axis=1, keepdims=True)
            apart.append(float(np.median(np.nanmedian(np.abs(slower - usual), axis=1))))
            there = [np.log(self._of[row].time_at(np.array([byte]))[0]) for row in rows]
            sides.append(float(np.median(there + usual[:, 0])))
        from_size_to_size = np.abs(np.diff(np.log(curve.time) - self._usual())) / np.sqrt(2)
        scatter = max(float(np.mean(apart)), float(np.nanmedian(from_size_to_size)))
        return sides[1] - sides[0], 1.4826 * scatter

    def _usual(self) -> Floats:
        """Return the median logarithm of their times at each size; NaN where none reaches."""
        logs = np.log(self._times)
        reached = np.isfinite(logs).any(axis=0)
        usual = np.full(len(self.curve.size), np.nan)
        usual[reached] = np.nanmedian(logs[:, reached], axis=0)
        return usual


def set_effects(every: list[Curve], witnesses: Iterable[Curve]) -> None:
    """Set how much each switch changes the time, without any detector: against other limits.

    Launches differ, so an effect is what the curve's own times show, but no more than the median
    of the launches with its limit.
    """
    every_witness = list(witnesses)
    for same in launches(every):
        if same[0].truth is None:
            continue
        seen = [Witnesses(curve, every_witness).effect() for curve in same]
        usual = float(np.median([effect for effect, _ in seen]))
        for curve, (own, scatter) in zip(same, seen, strict=True):
            alike = min(own * np.sign(usual), abs(usual)) * np.sign(usual)
            curve.effect, curve.scatter = float(np.expm1(alike)), scatter


def changes(size: Floats, times: Floats, low: float, high: float) -> Floats:
    """Return how far the sizes after a bracket lie off the line before it, as logarithms.

    Parameters
    ----------
    size, times : array of float, shapes (n,) and (curves, n)
    low, high : float
        The last size before the bracket and the first one after it.

    Returns
    -------
    array of float, shape (curves,)
    """
    end, start = np.searchsorted(size, low, side="right"), np.searchsorted(size, high)
    first = min(np.searchsorted(size, low / BESIDE), max(end - FEWEST_BESIDE, 0))
    last = max(np.searchsorted(size, high * BESIDE, side="right"), start + FEWEST_BESIDE)
    if end == 0 or start >= len(size):
        return np.zeros(len(times))
    x, y, after = size[first:end], times[:, first:end], times[:, start:last]
    weight = y**-2.0
    weight /= weight.sum(axis=1, keepdims=True)
    centre, level = (weight * x).sum(axis=1), (weight * y).sum(axis=1)
    away = x - centre[:, None]
    spread = (weight * away**2).sum(axis=1)
    slope = (weight * away * y).sum(axis=1) / np.where(spread > 0, spread, 1.0)
    aimed = level[:, None] + slope[:, None] * (size[start:last] - centre[:, None])
    return np.asarray(np.median(np.log(after / np.maximum(aimed, 0.1 * after)), axis=1))
