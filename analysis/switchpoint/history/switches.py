"""Switches that moved: between its old and its new place, a curve is on the line of the other side.

If a limit falls from 64 KiB to 32 KiB, the sizes in between take the times that the segment above
the limit would have there. This is neither a change of latency nor of bandwidth, so these sizes are
left out of the regressions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from switchpoint.history.by_night import by_night
from switchpoint.history.curve_launches import CurveLaunches
from switchpoint.history.parameters import ratios
from switchpoint.history.points import Points
from switchpoint.history.shapes import Shapes
from switchpoint.tables.student import SD_PER_MAD
from switchpoint.tables.sweeps import Floats, Indices

#: Smaller jumps are not followed, as a logarithm of time.
_SMALLEST_JUMP = 0.05

#: A size is on the other line if it is so many times nearer to it than to its own.
_NEARER = 2.0

#: The sizes of a segment whose line may be far off at others.
_FEW_SIZES = 2

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

#: Of the sizes between the places, at least this share moved.
_LEAST_MOVED = 2 / 3

#: How many sizes beside the old place, on either side, tell what moved from a change of latency or
#: bandwidth: that would add as much to the times on the other side, of which these show at most
#: this share.
_NEAREST = 2
_MOST_NEAREST = 0.5

#: No place of a curve is known better than this, as a logarithm.
_LEAST_ERROR = 0.01

#: With fewer earlier nights nobody knows from which size to which a switch moves by itself, so a
#: move across a single size of the grid is not told.
ENOUGH_NIGHTS = 2


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
        launches = CurveLaunches.of(points, ratio, shapes, int(first), int(last))
        own = np.maximum(error[first:last], launches.error())
        found += _Curve(shapes, int(first), int(last), level[first:last], own).moved(launches)
    return found


@dataclass(frozen=True)
class _Curve:
    """One curve's places, and tonight's ratios to the history."""

    shapes: Shapes
    first: int
    last: int
    level: Floats
    error: Floats

    def moved(self, launches: CurveLaunches) -> list[MovedSwitch]:
        """Return the curve's switches that moved."""
        segment = self.shapes.segment[self.first : self.last]
        found = []
        taken = np.zeros(len(segment), dtype=bool)
        for start in np.flatnonzero(np.diff(segment)) + 1:
            options = [self._down(int(start)), self._plateau(int(start)), self._up(int(start))]
            for evidence, places in sorted(options, key=lambda option: -option[0]):
                whole = self._is_whole(int(start), places)
                least = _EVIDENCE_OF_SEGMENT if whole else _LEAST_EVIDENCE
                if evidence < least or taken[places].any():
                    continue
                if moved := self._described(int(start), places, launches):
                    taken[moved.places - self.first] = True
                    found.append(moved)
                    break
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
        places = np.arange(start)
        return self._best_before(start, self._gain(places, *self._jumps(above, places)))

    def _plateau(self, start: int) -> tuple[float, Indices]:
        """Return the evidence that sizes before the switch take one time, and these sizes.

        A link that limits the larger sizes hides what the others cost beyond a switch, so these are
        not on the line of those. The last one tells the time, so it is no evidence. If all of a
        segment changed, its latency did.
        """
        places = np.arange(start)
        before = self.shapes.log_time[self.first : self.last]
        jump = np.fmin(*(before + self.level)[start - 1 : start + 1]) - before[:start]
        gain = self._gain(places, jump, jump)
        gain[-1] = 0.0
        evidence, run = self._best_before(start, gain)
        first = self.first + run[0]
        inside = run[0] > 0 and self.shapes.segment[first - 1] == self.shapes.segment[first]
        return evidence if inside else 0.0, run

    def _best_before(self, start: int, gain: Floats) -> tuple[float, Indices]:
        """Return the evidence of the best run of places that ends before a switch, and the run."""
        count, evidence = _best_run(gain[::-1], self.level[:start][::-1])
        return evidence, np.arange(start - count, start)

    def _up(self, start: int) -> tuple[float, Indices]:
        """Return the evidence that the switch is at a larger size, and the sizes in between."""
        below = self.shapes.segment[self.first + start - 1]
        places = np.arange(start, len(self.level))
        gain = self._gain(places, *self._jumps(below, places))
        count, evidence = _best_run(gain, self.level[start:])
        return evidence, np.arange(start, start + count)

    def _gain(self, places: Indices, low: Floats, high: Floats) -> Floats:
        """Return for each place how much better a jump between two bounds explains tonight."""
        level, error = self.level[places], self.error[places]
        jump = np.clip(level, low, high)
        scale = np.hypot(error, 0.25 * jump)  # an extrapolated line is not exact
        gain = 0.5 * (level**2 - (_NEARER * (level - jump)) ** 2) / scale**2
        gain = np.where(np.abs(jump) < _SMALLEST_JUMP, -1.0, gain)
        gain = np.nan_to_num(gain, nan=-1.0)
        return np.asarray(np.clip(gain, -_MOST_EVIDENCE, _MOST_EVIDENCE))

    def _jumps(self, segment: int, places: Indices) -> tuple[Floats, Floats]:
        """Return the least and the largest jump to another segment's line, as logarithms.

        Lines have a latency and a time per byte of at least 0. Of a segment of few sizes nothing
        more is known: its time at another size is between the same and one in proportion.
        """
        size, own = self.shapes.size[self.first + places], self.shapes.log_time[self.first + places]
        first, end = np.searchsorted(self.shapes.segment, [segment, segment + 1])
        with np.errstate(divide="ignore", invalid="ignore"):
            jump = np.log(self.shapes.lines(segment, size)) - own
            if end - first > _FEW_SIZES:
                return jump, jump
            nearest = self.shapes.size[first if self.first + places[0] < first else end - 1]
            same = np.log(self.shapes.lines(segment, nearest)) - own
            proportional = same + np.log(size / nearest)
        low, high = np.minimum(same, proportional), np.maximum(same, proportional)
        up = jump >= 0
        return np.where(up, np.maximum(low, 0), low), np.where(up, high, np.minimum(high, 0))

    def _described(
        self, start: int, places: Indices, launches: CurveLaunches
    ) -> MovedSwitch | None:
        sides = self.shapes.segment[self.first + start - 1 : self.first + start + 1]
        start, places = self._with_the_next(start, places)
        effect = float(np.nanmedian(self.level[places]))
        few = len(np.unique(launches.night)) <= ENOUGH_NIGHTS  # tonight is one of them
        if few and len(places) < 2:
            return None
        if not self._most_moved(places) or not self._ends(start, places):
            return None
        if not launches.show(places, effect):
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
            (int(sides[0]), int(sides[1])),
        )

    def _with_the_next(self, start: int, places: Indices) -> tuple[int, Indices]:
        """Include the next size if it moved as much: the history may show a switch too early."""
        if places[-1] >= start or start + 1 >= len(self.level):
            return start, places
        least = max(_SURE * self.error[start], _MOST_BEYOND * abs(np.nanmedian(self.level[places])))
        if self.level[start] * np.sign(self.level[start - 1]) > least:
            return start + 1, np.append(places, start)
        return start, places

    def _most_moved(self, places: Indices) -> bool:
        """Whether most of the sizes moved by at least half of what is typical of them."""
        level = self.level[places][np.isfinite(self.level[places])]
        typical = np.median(level)
        return bool(np.mean(level / typical > _MOST_BEYOND) >= _LEAST_MOVED)

    def _ends(self, start: int, places: Indices) -> bool:
        """Whether the sizes beyond the new place are as before."""
        down = places[-1] < start
        beyond, end = (places[0] - 1, places[0]) if down else (places[-1] + 1, places[-1])
        if 0 <= beyond < len(self.level) and not np.isnan(self.level[beyond]):
            return bool(abs(self.level[beyond]) <= _MOST_BEYOND * abs(self.level[end]))
        effect = abs(np.nanmedian(self.level[places]))
        segment = self.shapes.segment[self.first : self.last]
        other = np.flatnonzero(segment == segment[start if down else start - 1])
        other = other[np.isfinite(self.level[other])]
        if effect < _LARGE_JUMP or not len(other):
            return False
        as_before = abs(np.median(self.level[other])) <= _MOST_BEYOND * effect
        return bool(as_before) and self._stops(places, other)

    def _stops(self, places: Indices, other: Indices) -> bool:
        """Whether what is added to the times at some places is not added on the other side."""
        down = places[-1] < other[0]
        here = places[np.isfinite(self.level[places])]
        here, beside = (here[-_NEAREST:], other[:_NEAREST]) if down else (
            here[:_NEAREST], other[-_NEAREST:]
        )  # fmt: skip
        size, time = self.shapes.size[self.first :], np.exp(self.shapes.log_time[self.first :])
        added = np.median(np.expm1(self.level[here]) * time[here])
        # Of a change of bandwidth, smaller sizes show less.
        added *= min(1.0, float(np.median(size[beside]) / np.median(size[here])))
        expected = abs(np.log1p(max(added / np.median(time[beside]), -0.9)))
        shown = abs(np.median(self.level[beside])) + np.median(self.error[beside])
        return bool(shown <= _MOST_NEAREST * expected)


def _best_run(gain: Floats, level: Floats) -> tuple[int, float]:
    """Return how many of the first places moved, and their evidence: the largest sum of gains.

    Places at its end that moved much less than the others are beyond the new place.
    """
    total = np.cumsum(gain)
    count = int(np.argmax(total)) + 1
    while count > 1 and abs(level[count - 1]) <= _MOST_BEYOND * abs(np.nanmedian(level[:count])):
        count -= 1
    return count, float(total[count - 1])
