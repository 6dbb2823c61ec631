"""What each launch of one curve shows of a change: tonight's must, and earlier ones must not."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from switchpoint.history.by_night import launches_by_night
from switchpoint.history.points import Points
from switchpoint.history.scatter import MEDIAN_VARIANCE
from switchpoint.history.shapes import Shapes
from switchpoint.tables.sweeps import Floats, Indices

#: Share of tonight's launches that must show it. If not all do, or earlier ones do too, it must be
#: as improbable that as many of tonight's would if nothing had changed.
_MOST_LAUNCHES = 0.6
_CHANCE = 0.05

#: How many nights' scatter that of their launches stands for, as long as the nights are few.
_NIGHTS_OF_LAUNCHES = 6


@dataclass(frozen=True)
class CurveLaunches:
    """The launches of one curve.

    Attributes
    ----------
    ratio : array of float, shape (launches, places of the curve)
    night : array of int, shape (launches,)
    tonight : int
    """

    ratio: Floats
    night: Indices
    tonight: int

    @classmethod
    def of(
        cls, points: Points, ratio: Floats, shapes: Shapes, first: int, last: int
    ) -> CurveLaunches:
        """Return the ratios of all launches of the curve with these places, a row each."""
        here = (shapes.place >= first) & (shapes.place < last) & np.isfinite(ratio)
        launches, row = np.unique(points.launch[here], return_inverse=True)
        matrix = np.full((len(launches), last - first), np.nan)
        matrix[row, shapes.place[here] - first] = ratio[here]
        night = points.launches["night"].to_numpy()[launches]
        return cls(matrix, night, points.nights - 1)

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
