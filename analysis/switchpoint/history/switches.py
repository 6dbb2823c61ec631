"""Switches that moved: between its old and its new place, a curve is on the line of the other side.

If a limit falls from 64 KiB to 32 KiB, the sizes in between take the times that the segment above
the limit would have there. This is neither a change of latency nor of bandwidth, so these sizes are
left out of the regressions.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from switchpoint.history.by_night import by_night, launches_by_night
from switchpoint.history.parameters import ratios
from switchpoint.history.points import Points
from switchpoint.history.scatter import MEDIAN_VARIANCE
from switchpoint.history.shapes import Shapes
from switchpoint.tables.student import SD_PER_MAD
from switchpoint.tables.sweeps import Floats, Indices

#: Smaller jumps are not followed, as a logarithm of time.
_SMALLEST_JUMP = 0.05

#: A size is on the other line if it is so many times nearer to it than to its own.
_NEARER = 2.0

#: What sizes count against chance: their number times the evidence of each, at most this much.
_MOST_EVIDENCE = 12.0
_LEAST_EVIDENCE = 7.0

#: Sizes between two switches that changed as a whole, while those around them did not, need less: a
#: limit that falls to the one below does that, and hardly anything else. They changed by this many
#: times their error.
_EVIDENCE_OF_SEGMENT = 3.0
_SURE = 5.0

#: Just beyond the new place, sizes are as before: they moved at most this share of the others. If
#: no size is left there, only a jump of this much is told from a change of latency or bandwidth,
#: and those beyond the old place are as before: launches may be slow as a whole.
_MOST_BEYOND = 0.5
_LARGE_JUMP = 0.25

#: No place of a curve is known better than this, as a logarithm.
_LEAST_ERROR = 0.01


#: Share of tonight's launches that must show it. If not all do, or earlier ones do too, it must be
#: as improbable that as many of tonight's would if nothing had changed.
_MOST_LAUNCHES = 0.6
_CHANCE = 0.05

#: With fewer earlier nights nobody knows from which size to which a switch moves by itself, so a
#: move across a single size of the grid is not told.
ENOUGH_NIGHTS = 2

#: How many nights' scatter that of their launches stands for, as long as the nights are few.
_NIGHTS_OF_LAUNCHES = 6


@dataclass(frozen=True)
class MovedSwitch:
    """A switch that is at another place than in the history.

    Attributes
    ----------
    curve : int
    last_before, first_after : int
        The sizes beside its place in the history, in bytes.
    new_last_before, new_first_after : int
        The sizes beside its place tonight.
    effect, low, high : float
        How much slower the sizes in between are, as a logarithm, with its 95 % interval.
    places : array of int
        The places in between.
    segments : tuple of int
        The segments before and after the switch in the history.
    """

    curve: int
    last_before: int
    first_after: int
    new_last_before: int
    new_first_after: int
    effect: float
    low: float
    high: float
    places: Indices
    segments: tuple[int, int]


def moved_switches(points: Points, shapes: Shapes) -> list[MovedSwitch]:
    """Find the switches that are at another place tonight."""
    ratio = ratios(points, shapes)
    tonight = (points.night == points.nights - 1) & np.isfinite(ratio)
    if not tonight.any() or not len(shapes.size):
        return []
    place = shapes.place[tonight]
    level = by_night(place, np.zeros_like(place), ratio[tonight], (len(shapes.size), 1))[:, 0]
    error = np.maximum(SD_PER_MAD * shapes.scatter, _LEAST_ERROR)
    # A curve that moves as a whole has not moved its switches.
    odd = np.isfinite(level) & (np.abs(level) > 3 * error)
    found = []
    for curve in np.unique(shapes.curve[odd]):
        first, last = np.searchsorted(shapes.curve, [curve, curve + 1])
        launches = _launches(points, ratio, shapes, int(first), int(last))
        own = np.maximum(error[first:last], launches.error())
        found += _Curve(shapes, int(first), int(last), level[first:last], own).moved(launches)
    return found


@dataclass(frozen=True)
class _Launches:
    """The launches of a curve.

    Attributes
    ----------
    ratio : array of float, shape (launches, places of the curve)
    night : array of int, shape (launches,)
    tonight : int
    """

    ratio: Floats
    night: Indices
    tonight: int

    def error(self) -> Floats:
        """Return how far tonight may be from the history at each place by the launches' scatter.

        It counts the less the longer the history is, which then shows its scatter by itself.
        """
        row, place = np.nonzero(np.isfinite(self.ratio))
        shape = (self.ratio.shape[1], self.tonight + 1)
        found = launches_by_night(place, self.night[row], self.ratio[row, place], shape)
        there = found.number > 0
        nights = np.maximum(there[:, :-1].sum(axis=1), 1)
        launches = found.number.sum(axis=1) / np.maximum(there.sum(axis=1), 1)
        own = np.nan_to_num(found.variance) / np.maximum(launches, 1)
        worth = _NIGHTS_OF_LAUNCHES / (_NIGHTS_OF_LAUNCHES + nights - 1)
        return np.asarray(np.sqrt(worth * MEDIAN_VARIANCE * own * (1 + 1 / nights)))

    def show(self, places: Indices, effect: float) -> bool:
        """Whether tonight's launches show an effect at some places, and the history does not.

        An earlier night that shows it makes it no surprise, but for those just before tonight.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # of launches without these sizes
            off = np.nanmedian(self.ratio[:, places], axis=1) * np.sign(effect)
        there = np.isfinite(off)
        shows, night = off[there] > abs(effect) / 2, self.night[there]
        own = shows[night == self.tonight]
        if not len(own) or own.mean() < _MOST_LAUNCHES:
            return False
        nights = [bool(shows[night == one].mean() > 0.5) for one in np.unique(night)]
        while nights and nights[-1]:
            nights.pop()
        newer = np.unique(night)[len(nights) :]
        before = shows[~np.isin(night, newer)]
        if any(nights) or not len(before):
            return False
        return bool(own.all() and not before.any()) or _chance(own, before) <= _CHANCE


def _chance(ones: npt.NDArray[np.bool_], others: npt.NDArray[np.bool_]) -> float:
    """Return how probable so many of the first are if both are alike (Fisher's exact test)."""
    every, true = len(ones) + len(others), int(ones.sum() + others.sum())
    ways = [
        math.comb(true, number) * math.comb(every - true, len(ones) - number)
        for number in range(int(ones.sum()), min(true, len(ones)) + 1)
    ]
    return sum(ways) / math.comb(every, len(ones))


def _launches(points: Points, ratio: Floats, shapes: Shapes, first: int, last: int) -> _Launches:
    """Return the ratios of all launches of a curve, a row each."""
    here = (shapes.place >= first) & (shapes.place < last) & np.isfinite(ratio)
    launches, row = np.unique(points.launch[here], return_inverse=True)
    matrix = np.full((len(launches), last - first), np.nan)
    matrix[row, shapes.place[here] - first] = ratio[here]
    night = points.launches["night"].to_numpy()[launches]
    return _Launches(matrix, night, points.nights - 1)


@dataclass(frozen=True)
class _Curve:
    """One curve's places, and tonight's ratios to the history."""

    shapes: Shapes
    first: int
    last: int
    level: Floats
    error: Floats

    def moved(self, launches: _Launches) -> list[MovedSwitch]:
        """Return the curve's switches that moved."""
        segment = self.shapes.segment[self.first : self.last]
        found = []
        taken = np.zeros(len(segment), dtype=bool)
        for start in np.flatnonzero(np.diff(segment)) + 1:
            options = [self._down(int(start)), self._up(int(start))]
            evidence, places = max(options, key=lambda option: option[0])
            least = _EVIDENCE_OF_SEGMENT if self._is_whole(int(start), places) else _LEAST_EVIDENCE
            if evidence < least or taken[places].any():
                continue
            if moved := self._described(int(start), places, launches):
                taken[places] = True
                found.append(moved)
        return found

    def _is_whole(self, start: int, places: Indices) -> bool:
        """Whether places end at another switch, and all of them changed for sure."""
        segment = self.shapes.segment[self.first : self.last]
        end = int(places[0]) if places[-1] < start else int(places[-1]) + 1
        if not 0 < end < len(segment) or segment[end - 1] == segment[end]:
            return False
        return bool((np.abs(self.level[places]) > _SURE * self.error[places]).all())

    def _down(self, start: int) -> tuple[float, Indices]:
        """Return the evidence that the switch is at a smaller size, and the sizes in between."""
        above = self.shapes.segment[self.first + start]
        gain = self._gain(above, np.arange(start))[::-1]
        count, evidence = _best_run(gain)
        return evidence, np.arange(start - count, start)

    def _up(self, start: int) -> tuple[float, Indices]:
        """Return the evidence that the switch is at a larger size, and the sizes in between."""
        below = self.shapes.segment[self.first + start - 1]
        gain = self._gain(below, np.arange(start, len(self.level)))
        count, evidence = _best_run(gain)
        return evidence, np.arange(start, start + count)

    def _gain(self, segment: int, places: Indices) -> Floats:
        """Return for each place how much better another segment's line explains tonight."""
        size = self.shapes.size[self.first + places]
        line = self.shapes.lines(segment, size)
        with np.errstate(divide="ignore", invalid="ignore"):
            jump = np.log(line) - self.shapes.log_time[self.first + places]
        level, error = self.level[places], self.error[places]
        scale = np.hypot(error, 0.25 * jump)  # an extrapolated line is not exact
        gain = 0.5 * (level**2 - (_NEARER * (level - jump)) ** 2) / scale**2
        gain = np.where(np.abs(jump) < _SMALLEST_JUMP, -1.0, gain)
        gain = np.nan_to_num(gain, nan=-1.0)
        return np.asarray(np.clip(gain, -_MOST_EVIDENCE, _MOST_EVIDENCE))

    def _described(self, start: int, places: Indices, launches: _Launches) -> MovedSwitch | None:
        effect = float(np.nanmedian(self.level[places]))
        few = len(np.unique(launches.night)) <= ENOUGH_NIGHTS  # tonight is one of them
        if few and len(places) < 2:
            return None
        if not launches.show(places, effect) or not self._ends(start, places):
            return None
        error = float(np.median(self.error[places]))
        size = self.shapes.size[self.first : self.last]
        new = int(places[0]) if places[-1] < start else int(places[-1]) + 1
        return MovedSwitch(
            int(self.shapes.curve[self.first]),
            int(size[start - 1]),
            int(size[start]),
            int(size[new - 1]) if new > 0 else 0,
            int(size[new]) if new < len(size) else 0,
            effect,
            effect - 1.96 * error,
            effect + 1.96 * error,
            self.first + places,
            (
                int(self.shapes.segment[self.first + start - 1]),
                int(self.shapes.segment[self.first + start]),
            ),
        )

    def _ends(self, start: int, places: Indices) -> bool:
        """Whether the sizes beyond the new place are as before."""
        down = places[-1] < start
        beyond, end = (places[0] - 1, places[0]) if down else (places[-1] + 1, places[-1])
        if 0 <= beyond < len(self.level) and not np.isnan(self.level[beyond]):
            return bool(abs(self.level[beyond]) <= _MOST_BEYOND * abs(self.level[end]))
        effect = abs(np.nanmedian(self.level[places]))
        segment = self.shapes.segment[self.first : self.last]
        other = self.level[segment == segment[start if down else start - 1]]
        known = other[np.isfinite(other)]
        as_before = len(known) and abs(np.median(known)) <= _MOST_BEYOND * effect
        return bool(effect >= _LARGE_JUMP and as_before)


def _best_run(gain: Floats) -> tuple[int, float]:
    """Return how many of the first values have the largest sum, and the sum."""
    if not len(gain):
        return 0, -np.inf
    total = np.cumsum(gain)
    best = int(np.argmax(total))
    return best + 1, float(total[best])
