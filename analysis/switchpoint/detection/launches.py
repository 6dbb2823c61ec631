"""Searches the launches of one curve together: they share where their boundaries are."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from switchpoint.detection.boundaries import boundaries
from switchpoint.detection.brackets import Probable, probable
from switchpoint.detection.divisions import Divisions
from switchpoint.detection.noise import NOISE_FLOOR, off_the_neighbours, point_noise
from switchpoint.detection.outliers import Odd, large, outliers
from switchpoint.detection.segments import PieceTable
from switchpoint.tables.findings import Anomaly
from switchpoint.tables.sweeps import Floats

_Part = TypeVar("_Part")

#: A curve of fewer sizes is not searched.
FEWEST_SIZES = 6

#: Of a curve with more sizes so many are searched, evenly spread over them. Time and memory grow
#: with the square of their number: with so many, a search takes 0.3 GB.
MOST_SIZES = 2000

#: What is computed of curves with at most so many sizes is kept between the steps of a search. It
#: costs up to 12 MB for each launch, and 2 MB for each of its noises.
_SIZES_KEPT = 500

#: Divisions under several noises are weighed at once, if they have so few pieces together.
_ENTRIES_AT_ONCE = 250_000

#: Before the data, a curve has this many boundaries on average, anywhere with the same probability.
#: So few that noise alone, of 1 to 20 % over 20 to 200 sizes, shows a finding in at most 3 curves
#: of 100.
_BOUNDARIES_A_CURVE = 0.5

#: Without repeats, a curve has nearly none or several: so many on average, with this probability.
#: It says itself which. Noise alone shows a finding as seldom.
_NONE_OR_SEVERAL = ((0.1, 0.35), (4.0, 0.65))

#: Without repeats, the noise is one of these times what the scatter between sizes makes likely,
#: whose logarithm is uncertain by this standard deviation.
_UNKNOWN = (0.2, 0.35, 0.6, 1.0, 1.7, 2.8)
_UNSURE = 0.7

#: Without repeats, so many sizes at most are taken for odd, each with this probability, in a curve
#: of so many sizes at most: more sizes show their noise by themselves.
_MOST_ODD = 2
_IS_ODD = 0.05
_SIZES_WITH_ODD = 100

#: A boundary that the other launches of a curve are sure of is in a launch with this probability,
#: before its own data. The pairs of launches in bench/detection are most probable with 0.9 to 0.95;
#: less, so that what disturbs two launches in the same way is seldom taken for a boundary.
_RECURS = 0.8

#: A launch jumps between two sizes if its times differ by this many times their noise.
_ERRORS = 3.0


def detect_launches(size: Floats, launches: list[tuple[Floats, Floats]]) -> list[list[Anomaly]]:
    """Find steps and changes of slope in each of several launches of one curve.

    Launches share the places of their boundaries, not their size. A boundary in all of them
    together needs less evidence in each. A launch that shows nothing there gets no boundary.
    Of more than `MOST_SIZES` sizes only so many are searched.

    Parameters
    ----------
    size : array of float, shape (n,)
        Bytes, ascending, each once.
    launches : list of (time, standard_error), each an array of float, shape (n,)
        Median time in microseconds; its relative standard error.

    Returns
    -------
    list of list of Anomaly
        Of each launch `ANOMALY_COLUMNS`, by size: boundaries and outliers.
    """
    if len(size) < FEWEST_SIZES:
        return [[] for _ in launches]
    if len(size) > MOST_SIZES:
        some = np.linspace(0, len(size) - 1, MOST_SIZES).round().astype(int)
        return detect_launches(size[some], [(time[some], error[some]) for time, error in launches])
    noises = [point_noise(size, time, error) for time, error in launches]
    recurs = _jumps_elsewhere(launches, noises)
    for (_, change, errors), recurs_at in zip(noises, recurs, strict=True):
        change[recurs_at], errors[recurs_at] = 0.0, 0.0
    weighed = [
        _Weighed(
            size, time, np.maximum(noise, np.abs(change)), has_repeats=bool(np.median(error) > 0)
        )
        for (time, error), (noise, change, _) in zip(launches, noises, strict=True)
    ]
    steps, odd = [], []
    shared = _shared(weighed, len(size))
    for one, (elsewhere, others), recurs_at in zip(weighed, shared, recurs, strict=True):
        found, off = one.boundaries(elsewhere, others, recurs_at)
        if off:
            # Boundaries beside an odd size are those of the curve without it.
            found, more = one.without(off).boundaries(elsewhere, others, recurs_at)
            off += more
        steps.append(found)
        odd.append(off)
    shown = Counter(finding["size_bytes"] for one in steps for finding in one)
    for finding in itertools.chain(*steps):
        finding["evidence"]["launches"] = shown[finding["size_bytes"]]
    measured_once = len(launches) == 1 and not weighed[0].has_repeats
    return [
        sorted(
            [*found, *outliers(
                size, [*off, *large(change, errors)], float(np.median(noise)),
                measured_once=measured_once,
            )],
            key=lambda finding: int(finding["size_bytes"]),
        )
        for found, off, (noise, change, errors) in zip(steps, odd, noises, strict=True)
    ]  # fmt: skip


class _Weighed:
    """The evidence that a launch's times are, under each assumption on its noise and boundaries.

    Repeats show the noise. Without repeats only the scatter between sizes does, from few points, so
    divisions are weighed under several noises, with and without odd sizes, and under few and many
    boundaries: what explains the times better counts more.
    """

    def __init__(self, size: Floats, time: Floats, noise: Floats, *, has_repeats: bool) -> None:
        self.has_repeats = has_repeats
        self._size, self._time, self._noise = size, time, noise
        counts = ((_BOUNDARIES_A_CURVE, 1.0),) if has_repeats else _NONE_OR_SEVERAL
        self._rare = np.array([[min(count / len(size), 0.5)] for count, _ in counts])
        self._shares = np.array([share for _, share in counts])
        self._table: PieceTable | None = None
        self._evidence: list[tuple[Floats, float]] = []

    def without(self, odd: list[Odd]) -> _Weighed:
        """Return the same where odd sizes have the deviation that they show as noise."""
        noise = self._noise.copy()
        for one in odd:
            noise[one.place] = max(noise[one.place], abs(one.change))
        return _Weighed(self._size, self._time, noise, has_repeats=self.has_repeats)

    def boundaries(
        self, elsewhere: Floats, others: list[Probable], recurs: npt.NDArray[np.bool_]
    ) -> tuple[list[Anomaly], list[Odd]]:
        """Find the boundaries and the odd sizes, with what other launches show before the data."""
        divisions = self.divide(elsewhere)
        return boundaries(
            self.table, divisions, others, recurs=recurs, has_repeats=self.has_repeats
        )

    def probable(self, divisions: Divisions) -> list[Probable]:
        """Find the boundaries that are probable."""
        return [*probable(self.table, divisions)]

    def added_by_data(self, divisions: Divisions) -> Floats:
        """Return what the data add to the logarithm of the odds of a boundary at each place."""
        before = float(self._shares @ self._rare[:, 0])
        return _log_odds(np.clip(divisions.here, 1e-6, 1 - 1e-6)) - _log_odds(before)

    def divide(self, elsewhere: Floats) -> Divisions:
        """Divide the curve, with the probability that a boundary of others is here, at each place.

        Divisions are averaged over the noises and the numbers of boundaries that are assumed.
        """
        before = self._rare + (1 - self._rare) * elsewhere
        # The divisions of a curve are weighed by odds, which are relative to no boundary at all.
        of_number = np.log(self._shares) + np.log1p(-before[:, 1:]).sum(axis=1)
        odds, evidence = _log_odds(before), self._under_each_noise()
        at_once = max(_ENTRIES_AT_ONCE // (len(odds) * len(self._size) ** 2), 1)
        return Divisions.averaged(
            Divisions(
                np.stack([table for table, _ in several])[:, None],
                odds,
                np.array([of_noise for _, of_noise in several])[:, None] + of_number,
            )
            for several in _in_groups(evidence, at_once)
        )

    def _under_each_noise(self) -> Iterable[tuple[Floats, float]]:
        """Return the evidence for pieces under each noise, and the noise's odds, as a logarithm."""
        if self.has_repeats:
            return [(self.table.evidence, 0.0)]
        if self._evidence:
            return self._evidence
        every = (
            (PieceTable(self._size, self._time, noise).evidence, odds)
            for noise, odds in self._noises()
        )
        if len(self._size) > _SIZES_KEPT:
            return every
        self._evidence = [*every]
        return self._evidence

    def _noises(self) -> Iterator[tuple[Floats, float]]:
        """Yield the noises that a curve without repeats may have, and the odds of each.

        A size that is odd has the noise that it shows. The likeliest are those that lie furthest
        off the line between their neighbours.
        """
        off = np.r_[0.0, np.abs(off_the_neighbours(self._size, self._time)[0]), 0.0]
        most = _MOST_ODD if len(off) <= _SIZES_WITH_ODD else 0
        odd = np.argsort(-off / self._noise, kind="stable")[:most]
        for factor in _UNKNOWN:
            noise = np.maximum(factor * self._noise, NOISE_FLOOR)
            odds = -0.5 * float(np.log(factor) / _UNSURE) ** 2
            yield noise, odds - float(np.log(noise).sum())
            for place in odd:
                noise = noise.copy()
                noise[place] = max(noise[place], off[place])
                odds += float(_log_odds(_IS_ODD))
                yield noise, odds - float(np.log(noise).sum())

    @property
    def table(self) -> PieceTable:
        """The pieces under the noise that is likeliest before the data."""
        if self._table is None:
            table = PieceTable(self._size, self._time, self._noise)
            if len(self._size) > _SIZES_KEPT:
                return table
            self._table = table
        return self._table


def _shared(launches: list[_Weighed], sizes: int) -> list[tuple[Floats, list[Probable]]]:
    """Return what is known of each launch before its own data: from the others.

    That is the probability that a boundary of the others is here, at each place, and their probable
    boundaries. First each launch is divided by itself. What the data of the others add to the odds
    of a boundary at a place adds up. Others that show nothing there take nothing away, because
    launches may differ.
    """
    nowhere = np.zeros(sizes)
    if len(launches) == 1:
        return [(nowhere, [])]
    added, found = [], []
    for one in launches:
        divisions = one.divide(nowhere)
        added.append(one.added_by_data(divisions))
        found.append(one.probable(divisions))
    total = np.sum(added, axis=0)
    rare = _BOUNDARIES_A_CURVE / sizes
    shared = []
    for number, own in enumerate(added):
        likely = 1 / (1 + np.exp(-_log_odds(rare) - np.maximum(total - own, 0)))
        elsewhere = _RECURS * (likely - rare)
        others = itertools.chain(*found[:number], *found[number + 1 :])
        shared.append((elsewhere, [*others]))
    return shared


def _jumps_elsewhere(
    launches: list[tuple[Floats, Floats]], noises: list[tuple[Floats, Floats, Floats]]
) -> list[npt.NDArray[np.bool_]]:
    """Say of each size of each launch whether another launch jumps there as well.

    The jump is in the same direction and at least half as large. So the size is no outlier: what
    disturbs a single size does not recur.
    """
    if len(launches) == 1:
        return [np.zeros(len(launches[0][0]), dtype=bool)]
    logs = np.log([time for time, _ in launches])
    noise = np.array([noise for noise, _, _ in noises])
    jumps, error = np.zeros_like(logs), np.ones_like(logs)
    jumps[:, 1:] = np.diff(logs)
    error[:, 1:] = np.hypot(noise[:, 1:], noise[:, :-1])
    certain = np.abs(jumps) >= _ERRORS * error
    found = []
    for launch, own in enumerate(jumps):
        alike = (jumps * np.sign(own) >= np.abs(own) / 2) & certain
        alike[launch] = False
        found.append(alike.any(axis=0))
    return found


def _log_odds(probability: Floats | float) -> Floats:
    return np.asarray(np.log(probability / (1 - probability)))


def _in_groups(parts: Iterable[_Part], count: int) -> Iterator[list[_Part]]:
    rest = iter(parts)
    while group := [*itertools.islice(rest, count)]:
        yield group
