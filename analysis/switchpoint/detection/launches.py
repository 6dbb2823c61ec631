"""Searches the launches of one curve together: they share where their boundaries are."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import numpy as np
import numpy.typing as npt

from switchpoint.detection.boundaries import boundaries
from switchpoint.detection.divisions import Divisions
from switchpoint.detection.noise import point_noise
from switchpoint.detection.outliers import outliers
from switchpoint.detection.segments import PieceTable
from switchpoint.tables.sweeps import Floats

#: A curve of fewer sizes is not searched.
FEWEST_SIZES = 6

#: Of a curve with more sizes so many are searched, evenly spread over them. Time and memory grow
#: with the square of their number: with so many, a search takes 0.3 GB.
MOST_SIZES = 2000

#: The tables of curves with at most so many sizes are kept between the steps of a search, which
#: costs memory: together they take up to 12 MB for each launch and noise.
_SIZES_KEPT = 500

#: Before the data, a curve has this many boundaries on average, anywhere with the same probability.
#: So few that noise alone, of 1 to 20 % over 20 to 200 sizes, shows a finding in at most 3 curves
#: of 100.
_BOUNDARIES_A_CURVE = 0.5

#: Without repeats, the noise is one of these times what the scatter between sizes makes likely,
#: whose logarithm is uncertain by this standard deviation. With smaller noises too, 3.3 of 100
#: curves of 20 % noise at three sizes an octave showed a finding.
_UNKNOWN = (1.0, 1.4, 2.0, 2.8, 4.0)
_KNOWN = (1.0,)
_UNSURE = 0.5

#: A boundary that the other launches of a curve are sure of is in a launch with this probability,
#: before its own data.
_RECURS = 0.5


#: A launch jumps between two sizes if its times differ by this many times their noise.
_ERRORS = 3.0


def detect_launches(
    size: Floats, launches: list[tuple[Floats, Floats]]
) -> list[list[dict[str, Any]]]:
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
    list of list of dict
        Of each launch `ANOMALY_COLUMNS`, by size: boundaries and outliers.
    """
    if len(size) < FEWEST_SIZES:
        return [[] for _ in launches]
    if len(size) > MOST_SIZES:
        some = np.linspace(0, len(size) - 1, MOST_SIZES).round().astype(int)
        return detect_launches(size[some], [(time[some], error[some]) for time, error in launches])
    noises = [point_noise(size, time, error) for time, error in launches]
    stays = _jumps_that_stay(launches, noises)
    for (_, change, errors), elsewhere in zip(noises, stays, strict=True):
        change[elsewhere], errors[elsewhere] = 0.0, 0.0
    weighed = [
        _Weighed(
            size, time, np.maximum(noise, np.abs(change)), has_repeats=bool(np.median(error) > 0)
        )
        for (time, error), (noise, change, _) in zip(launches, noises, strict=True)
    ]
    steps = []
    for one, divisions, noise, elsewhere in zip(
        weighed, _divisions(weighed, len(size)), noises, stays, strict=True
    ):
        found, odd = boundaries(
            one.table(), divisions, may_be_odd=~elsewhere, has_repeats=one.has_repeats
        )
        for size_off in odd:
            noise[1][size_off.place], noise[2][size_off.place] = size_off.change, size_off.errors
        steps.append(found)
    shown = Counter(finding["size_bytes"] for one in steps for finding in one)
    for finding in itertools.chain(*steps):
        finding["evidence"]["launches"] = shown[finding["size_bytes"]]
    return [
        sorted(
            found + outliers(size, change, errors, float(np.median(noise))),
            key=lambda finding: int(finding["size_bytes"]),
        )
        for found, (noise, change, errors) in zip(steps, noises, strict=True)
    ]


class _Weighed:
    """The evidence that a launch's times are, under each noise that they may have.

    Repeats tell the noise. Without repeats only the scatter between sizes does, from few points, so
    divisions are weighed under several noises: what explains the times better counts more.
    """

    def __init__(self, size: Floats, time: Floats, noise: Floats, *, has_repeats: bool) -> None:
        self.has_repeats = has_repeats
        self._size, self._time, self._noise = size, time, noise
        self._factors = _KNOWN if has_repeats else _UNKNOWN
        self._kept: dict[float, PieceTable] = {}
        logs = np.log(self._factors)
        self._before = -len(size) * logs - 0.5 * (logs / _UNSURE) ** 2

    def table(self, factor: float = 1.0) -> PieceTable:
        """Return the evidence with this times the noise; that of a long curve is not kept."""
        if factor in self._kept:
            return self._kept[factor]
        table = PieceTable(self._size, self._time, factor * self._noise)
        if len(self._size) <= _SIZES_KEPT:
            self._kept[factor] = table
        return table

    def divide(self, odds: Floats) -> Divisions:
        """Divide the curve, with these odds of a boundary before its data."""
        parts = [Divisions(self.table(factor).evidence, odds) for factor in self._factors]
        if len(parts) == 1:
            return parts[0]
        weight = np.array([part.total for part in parts]) + self._before
        weight = np.exp(weight - weight.max())
        return Divisions.averaged(parts, weight / weight.sum())


def _divisions(launches: list[_Weighed], sizes: int) -> list[Divisions]:
    """Divide each launch, with what the others show as the odds before its own data.

    First each launch is divided by itself. What the data of the others add to the odds of a
    boundary at a place adds up. Others that show nothing there take nothing away, because launches
    may differ.
    """
    rare = min(_BOUNDARIES_A_CURVE / sizes, 0.5)
    alone = np.full(sizes, _log_odds(np.array(rare)))
    divisions = [one.divide(alone) for one in launches]
    if len(launches) == 1:
        return divisions
    added = [_log_odds(np.clip(part.here, 1e-6, 1 - 1e-6)) - alone for part in divisions]
    total = np.sum(added, axis=0)
    found = []
    for one, own in zip(launches, added, strict=True):
        elsewhere = alone + np.maximum(total - own, 0)
        recurs = _RECURS / (1 + np.exp(-elsewhere))
        found.append(one.divide(_log_odds(rare + (1 - rare) * recurs)))
    return found


def _jumps_that_stay(
    launches: list[tuple[Floats, Floats]], noises: list[tuple[Floats, Floats, Floats]]
) -> list[npt.NDArray[np.bool_]]:
    """Say of each size of each launch whether another launch jumps there and stays.

    The jump is in the same direction and at least half as large, and the size is no outlier in the
    other launch. So it is none here either: what disturbs a single size does not recur.
    """
    if len(launches) == 1:
        return [np.zeros(len(launches[0][0]), dtype=bool)]
    logs = np.log([time for time, _ in launches])
    noise = np.array([noise for noise, _, _ in noises])
    jumps, error = np.zeros_like(logs), np.ones_like(logs)
    jumps[:, 1:] = np.diff(logs)
    error[:, 1:] = np.hypot(noise[:, 1:], noise[:, :-1])
    jumps_and_stays = np.abs(jumps) >= _ERRORS * error
    jumps_and_stays &= np.array([change == 0 for _, change, _ in noises])
    found = []
    for launch, own in enumerate(jumps):
        alike = (jumps * np.sign(own) >= np.abs(own) / 2) & jumps_and_stays
        alike[launch] = False
        found.append(alike.any(axis=0))
    return found


def _log_odds(probability: Floats) -> Floats:
    return np.asarray(np.log(probability / (1 - probability)))
