"""Switches that moved: the sizes between two places, compared with those beside them.

If a limit falls from 64 KiB to 32 KiB, the sizes in between take the times that the segment above
the limit would have there, and those on either side take the times that they took. So each launch
gives one number: how much slower the sizes in between are than those beside them explain, whether
these are slower by a share, by a time, or by a time for each byte. A session that is slow as a
whole, a higher latency or a lower bandwidth leave it at 0. It is compared with its own baseline,
like everything else.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from switchpoint.gating.baseline import Series, compare
from switchpoint.gating.by_session import by_session, launches_by_session
from switchpoint.gating.parameters import ratios
from switchpoint.gating.points import Points
from switchpoint.gating.shapes import Shapes
from switchpoint.tables.sweeps import Floats, Indices

#: Smaller jumps are not followed, as a logarithm of time.
_SMALLEST_JUMP = 0.05

#: How many sizes beside them, on either side, are compared with them.
BESIDE = 2

#: Before there is a baseline: how much sizes beside each other scatter, relative.
_USUAL_SCATTER = 0.01

#: The sizes that a switch moved across are no change of latency or bandwidth if chance is less
#: probable than this.
_LEFT_OUT = 1e-3

#: With fewer earlier sessions nobody knows from which size to which a switch moves by itself, so a
#: move across a single size of the grid is not reported.
ENOUGH_SESSIONS = 2


@dataclass(frozen=True)
class MovedSwitch:
    """A switch that is at another place than in the baseline.

    Attributes
    ----------
    curve : int
    first_after, new_first_after : int
        The first size after its place in the baseline and in the current session, in bytes.
    effect, low, high : float
        How much slower the sizes in between are, as a logarithm, with its 95 % interval.
    p : float
        The probability that chance shows it, of all places to which the switch could have moved.
    places : array of int
        The places in between.
    """

    curve: int
    first_after: int
    new_first_after: int
    effect: float
    low: float
    high: float
    p: float
    places: Indices


@dataclass(frozen=True)
class _Move:
    """A place of a curve to which a switch may have moved, all as rows of the curve's places."""

    start: int
    places: Indices
    lower: Indices
    upper: Indices

    @property
    def new(self) -> int:
        """The first place after the switch."""
        down = self.places[-1] < self.start
        return int(self.places[0]) if down else int(self.places[-1]) + 1


def moved_switches(points: Points, shapes: Shapes) -> list[MovedSwitch]:
    """Find the switches that are at another place in the current session."""
    ratio = ratios(points, shapes)
    current = (points.session == points.sessions - 1) & np.isfinite(ratio)
    if not current.any() or not len(shapes.size):
        return []
    place = shapes.place[current]
    level = by_session(place, np.zeros_like(place), ratio[current], (len(shapes.size), 1))[:, 0]
    curves = np.unique(shapes.curve[np.abs(np.nan_to_num(level)) > _SMALLEST_JUMP])
    moves: list[tuple[_Curve, _Move, int]] = []
    for which in curves:
        first, last = np.searchsorted(shapes.curve, [which, which + 1])
        curve = _Curve.of(points, ratio, shapes, int(first), int(last))
        moves += [(curve, move, number) for move, number in curve.moves()]
    if not moves:
        return []
    rows = [curve.contrast(curve.ratio, move) for curve, move, _ in moves]
    launches = launches_by_session(
        np.repeat(np.arange(len(moves)), [len(row) for row in rows]),
        np.concatenate([curve.session for curve, *_ in moves]),
        np.concatenate(rows),
        (len(moves), points.sessions),
    )
    normal = np.ones(launches.per_session.shape, dtype=bool)
    similar = np.zeros(len(moves), dtype=np.intp)
    test = compare(Series(launches, normal, similar), _USUAL_SCATTER)
    p = np.minimum(test.p * [number for *_, number in moves], 1.0)
    low, high = test.interval()
    switches: list[MovedSwitch] = []
    for number in np.argsort(p, kind="stable"):
        curve, move, _ = moves[number]
        few = points.sessions - 1 < ENOUGH_SESSIONS and len(move.places) < 2
        taken = [switch.places for switch in switches if switch.curve == curve.curve]
        places = curve.first + move.places
        if p[number] > _LEFT_OUT or few or any(np.isin(places, some).any() for some in taken):
            continue
        effect = float(np.nanmedian(curve.level[move.places]))
        half = float(high[number] - low[number]) / 2
        switches.append(curve.described(move, effect, half, float(p[number])))
    return switches


@dataclass(frozen=True)
class _Curve:
    """One curve's places.

    Attributes
    ----------
    shapes, first, last
        Of all curves, and the first place of this one and the one after its last.
    ratio : array of float, shape (launches, places)
        How much slower each launch is than the baseline, as a logarithm; NaN without a point.
    session : array of int, shape (launches,)
    level : array of float, shape (places,)
        The median of the current launches.
    """

    shapes: Shapes
    first: int
    last: int
    ratio: Floats
    session: Indices
    level: Floats

    @classmethod
    def of(cls, points: Points, ratio: Floats, shapes: Shapes, first: int, last: int) -> _Curve:
        """Return the curve with these places."""
        here = (shapes.place >= first) & (shapes.place < last) & np.isfinite(ratio)
        launches, row = np.unique(points.launch[here], return_inverse=True)
        matrix = np.full((len(launches), last - first), np.nan)
        matrix[row, shapes.place[here] - first] = ratio[here]
        session = points.launches["session_number"].to_numpy()[launches]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # of sizes that are missing now
            level = np.nanmedian(matrix[session == points.sessions - 1], axis=0)
        return cls(shapes, first, last, matrix, session, level)

    @property
    def curve(self) -> int:
        """The number of the curve."""
        return int(self.shapes.curve[self.first])

    @property
    def segment(self) -> Indices:
        """The segment of each place."""
        return self.shapes.segment[self.first : self.last]

    def moves(self) -> Iterator[tuple[_Move, int]]:
        """Yield for each switch the move that explains most, and from how many it was chosen."""
        for start in np.flatnonzero(np.diff(self.segment)) + 1:
            moves = [*self._moves_of(int(start))]
            gains = [self._gain(move) for move in moves]
            if max(gains, default=0.0) > 0:
                yield moves[int(np.argmax(gains))], len(moves)

    def _moves_of(self, start: int) -> Iterator[_Move]:
        """Yield to where a switch can move: down, down from one size later, and up.

        One that leaves the measured sizes is a change of latency or bandwidth.
        """
        count = len(self.level)
        for end in (start, start + 1):
            for new in range(1, start) if end < count else ():
                yield self._move(start, new, end)
        for new in range(start + 1, count):
            yield self._move(start, start, new)

    def _move(self, start: int, first: int, end: int) -> _Move:
        lower = np.arange(max(first - BESIDE, 0), first)
        upper = np.arange(end, min(end + BESIDE, len(self.level)))
        places = np.arange(first, end)
        # The baseline may show a switch one size too early, and that size moves with it.
        old = end if first < start else start
        return _Move(old, places, lower, upper)

    def _gain(self, move: _Move) -> float:
        """Return how much better a move explains the current session than none; 0 if it cannot."""
        inside = self.level[move.places]
        known = np.isfinite(inside)
        if not known.any() or not abs(float(np.mean(inside[known]))) > _SMALLEST_JUMP:
            return 0.0
        jump = float(self.contrast(self.level[None], move)[0])
        if not abs(jump) > _SMALLEST_JUMP:
            return 0.0
        way = 1.0 if jump > 0 else -1.0
        if not any(0 < way * predicted < np.inf for predicted in self._jumps(move)):
            return 0.0
        # Both ends are slower than sizes beside them explain: a higher latency reaches only one.
        for end in move.places[known][[0, -1]]:
            alone = replace(move, places=np.array([end]))
            if way * float(self.contrast(self.level[None], alone)[0]) < abs(jump) / 2:
                return 0.0
        return float(known.sum() * jump**2)

    def contrast(self, ratio: Floats, move: _Move) -> Floats:
        """Return how much slower the sizes in between are in each launch than others explain.

        Parameters
        ----------
        ratio : array of float, shape (launches, places)
        move
        """
        size = self.shapes.size[self.first : self.last].astype(float)
        time = np.exp(self.shapes.log_time[self.first : self.last])
        added = time * np.expm1(ratio)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # of launches without these sizes
            inside = np.nanmean(ratio[:, move.places], axis=1)
        time_inside = time[move.places].mean()
        explained = []
        for place in (*move.lower, *move.upper):
            larger = size[move.places].mean() / max(size[place], 1.0)
            by_time = added[:, place] / time_inside
            explained += [ratio[:, place], np.log1p(np.maximum(larger * by_time, -0.9))]
            if place in move.lower:  # a higher latency adds as much below
                explained.append(np.log1p(np.maximum(by_time, -0.9)))
        rest = inside - np.stack(explained)
        nearest = np.abs(np.where(np.isfinite(rest), rest, np.inf)).argmin(axis=0)
        least = np.take_along_axis(rest, nearest[None], axis=0)[0]
        return np.asarray(np.where(np.sign(least) == np.sign(inside), least, 0.0 * inside))

    def _jumps(self, move: _Move) -> Iterator[float]:
        """Yield how much slower the line of the other side says that the sizes in between become.

        An extrapolated line is not exact, so only its direction counts. A link that limits the
        larger sizes hides what the others cost beyond a switch: then those in between take the time
        of the largest of them.
        """
        down = move.places[-1] < move.start
        segment = self.segment[move.start if down else move.start - 1]
        places = move.places
        size = self.shapes.size[self.first + places].astype(float)
        baseline = self.shapes.log_time[self.first + places]
        with np.errstate(divide="ignore"):  # a line may start at 0
            yield float(np.mean(np.log(self.shapes.lines(segment, size)) - baseline))
        inside = self.segment[places[0] - 1] == self.segment[places[0]]
        if down and inside:  # if all of a segment changed, its latency did
            before = self.shapes.log_time[self.first : self.last] + self.level
            beside = before[move.start - 1 : move.start + 1]
            if np.isfinite(beside).any():
                yield float(np.mean(np.fmin.reduce(beside) - baseline))

    def described(self, move: _Move, effect: float, half: float, p: float) -> MovedSwitch:
        """Return a move as people read it."""
        size = self.shapes.size[self.first : self.last].tolist()
        return MovedSwitch(
            self.curve,
            size[move.start],
            size[move.new],
            effect,
            effect - half,
            effect + half,
            p,
            self.first + move.places,
        )
