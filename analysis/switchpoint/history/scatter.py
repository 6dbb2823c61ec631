"""How far tonight's value may lie from its history by chance.

The nights are the replicates: launches and samples of one night agree too well. With few nights the
scatter of one series is hardly known, so that of similar series helps: the variance is moderated
(Smyth 2004, Statistical Applications in Genetics and Molecular Biology 3(1), article 3).
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from switchpoint.history.autocorrelation import correlation, variance_of_centre, variance_of_mean
from switchpoint.history.by_night import LaunchesByNight
from switchpoint.history.centres import CENTRE_VARIANCE, near
from switchpoint.history.medians import row_medians
from switchpoint.history.pooling import MOST_PRIOR, pooled_variance
from switchpoint.history.slow_launches import by_chance
from switchpoint.tables.student import SD_PER_MAD, normal_deviate, probability, t975
from switchpoint.tables.sweeps import Floats, Indices

#: A night further from the median than this many standard deviations was disturbed. It is left out.
DISTURBED = 4.0

#: So many newest nights are compared together, up to a week, if so many nights are before them.
_WINDOWS = (1, 2, 4, 7)
_FEWEST_BEFORE = 4

#: Tonight alone must show this share of what the newest nights show together.
_LEAST_TONIGHT = 0.5

#: An earlier night was as far off if it shows between these shares of the effect.
_AS_FAR = 0.8, 2.0

#: What is more probable than this is no change in any case.
_RARE = 0.05

#: Variance of a median over that of a mean, of normal values.
MEDIAN_VARIANCE = math.pi / 2

#: Before there is a history: the relative scatter from night to night, and how many degrees of
#: freedom this counts.
USUAL_SCATTER = 0.03
_USUAL_FREEDOM = 6.0

#: Fewer similar series do not show how much their variances differ.
_FEWEST_ALIKE = 5

#: No scatter is less than this, relative.
_LEAST_SCATTER = 0.003

#: Similar series are worth at least so many degrees of freedom.
_LEAST_PRIOR = 3.0


@dataclass(frozen=True)
class Judged:
    """Tonight's values compared with their histories; one entry for each series.

    Attributes
    ----------
    centre : array of float
        The centre of the history.
    effect : array of float
        How far the newest nights are from it; NaN without a night tonight or in the history.
    scatter : array of float
        Standard deviation from night to night.
    error : array of float
        Standard error of the effect.
    freedom : array of float
        Degrees of freedom of the error.
    p : array of float
        The probability of such an effect by chance; 1 if it is not known.
    """

    centre: Floats
    effect: Floats
    scatter: Floats
    error: Floats
    freedom: Floats
    p: Floats

    @property
    def z(self) -> Floats:
        """The effects as normal deviates."""
        return normal_deviate(self.effect / self.error, self.freedom)

    def interval(self) -> tuple[Floats, Floats]:
        """Return the 95 % confidence intervals of the effects."""
        half = self.least_visible
        return self.effect - half, self.effect + half

    @property
    def least_visible(self) -> Floats:
        """The smallest effect that would be significant in a test by itself."""
        return np.asarray(self.error * t975(self.freedom))


@dataclass(frozen=True)
class Nightly:
    """Series of nights.

    Attributes
    ----------
    launches : LaunchesByNight
        The values of a series' launches, a row each.
    normal : array of bool, shape (series, nights)
        Whether a night is one that the newest are compared with.
    stratum : array of int, shape (series,)
        Series with the same number are similar: their scatter is.
    alike : array of int, shape (series,), optional
        Series with the same number have launches that are slow as often, and nights that are as
        much like the night before; by default the stratum.
    """

    launches: LaunchesByNight
    normal: npt.NDArray[np.bool_]
    stratum: Indices
    alike: Indices | None = None

    @property
    def values(self) -> Floats:
        """The value of each night, shape (series, nights); NaN where there is none."""
        return self.launches.nightly

    @property
    def similar(self) -> Indices:
        """What is `alike`, or else the stratum."""
        return self.stratum if self.alike is None else self.alike

    @property
    def baseline(self) -> Floats:
        """The values of normal nights, NaN for the others."""
        return np.where(self.normal, self.values, np.nan)


def compare(series: Nightly, usual: Floats | float = USUAL_SCATTER) -> Judged:
    """Compare the newest nights with those before them.

    A change that is small beside the scatter is seen in several nights together: tonight is tested,
    and the mean of the newest nights if tonight alone shows at least half of it.

    Parameters
    ----------
    series
        The last night is tonight.
    usual
        Scatter from night to night before there is a history, of all series or of each.
    """
    nights = series.values.shape[1]
    windows = [window for window in _WINDOWS if window == 1 or nights >= window + _FEWEST_BEFORE]
    judged = [_compare(series, window, usual) for window in windows]
    p = np.stack([one.p for one in judged])
    best = p.argmin(axis=0)
    possible = sum(np.isfinite(one.effect).astype(int) for one in judged)

    def chosen(name: str) -> Floats:
        values = np.stack([getattr(one, name) for one in judged])
        return np.asarray(np.take_along_axis(values, best[None], axis=0)[0])

    # Several windows are several chances.
    return Judged(
        chosen("centre"),
        chosen("effect"),
        chosen("scatter"),
        chosen("error"),
        chosen("freedom"),
        np.minimum(p.min(axis=0) * np.maximum(possible, 1), 1.0),
    )


def _compare(series: Nightly, window: int, usual: Floats | float) -> Judged:
    """Compare the mean of so many newest nights with those before them."""
    past, newest = series.baseline[:, :-window], series.values[:, -window:]
    centre, variance, number = _scatter(past, series.stratum)
    within = np.nan_to_num(series.launches.variance)
    prior, worth = _prior(variance, number, within, series, usual)
    freedom = np.maximum(number - 1, 0)
    with np.errstate(invalid="ignore"):
        own = np.where(freedom > 0, variance * freedom, 0.0)
    moderated = (prior * worth + own) / (worth + freedom)
    moderated = np.maximum(moderated, _LEAST_SCATTER**2)
    alike = correlation(past, centre, series.similar) if window > 1 else np.zeros(len(past))
    of_centre = CENTRE_VARIANCE / np.maximum(number, 1) * variance_of_centre(alike)
    error = moderated * (variance_of_mean(alike, window) + of_centre)
    error += _fewer_launches(within, series.launches.number) / window
    complete = np.isfinite(newest).all(axis=1)
    complete &= number >= (1 if window == 1 else _FEWEST_BEFORE)
    effect = np.where(complete, newest.mean(axis=1) - centre, np.nan)
    judged = Judged(
        centre, effect, np.sqrt(moderated), np.sqrt(error), worth + freedom, np.ones(len(past))
    )
    tonight = (newest[:, -1] - centre) / np.where(effect == 0, 1, effect)
    shows = complete & (tonight >= _LEAST_TONIGHT)
    p = np.maximum(probability(judged.z), _seen_before(past - centre[:, None], effect, window))
    p = np.where(shows, p, 1.0)
    rare = np.flatnonzero(p <= _RARE)
    p[rare] = np.maximum(p[rare], _of_slow_launches(series, judged, window, rare))
    return replace(judged, p=p)


def _of_slow_launches(series: Nightly, judged: Judged, window: int, rows: Indices) -> Floats:
    """Return how probable some effects are if launches are slow as often as in the history."""
    with np.errstate(invalid="ignore", divide="ignore"):
        off = (series.values[:, :-window] - judged.centre[:, None]) / judged.effect[:, None]
    # The nights just before may be the same change.
    newest = np.logical_and.accumulate((off >= _AS_FAR[0])[:, ::-1], axis=1)[:, ::-1]
    return by_chance(
        series.launches.each,
        series.normal[:, :-window] & ~newest,
        judged.centre,
        judged.effect,
        judged.scatter,
        series.similar,
        rows,
    )


def _seen_before(off: Floats, effect: Floats, window: int) -> Floats:
    """Return how often the history was as far off as now, of all its nights.

    The nights just before tonight do not count: they may be the same change. What a site's
    disturbed nights have shown before is no surprise, however unlikely it is by the scatter of
    the other nights.
    """
    nights = off.shape[1] - window + 1
    if nights < 1:
        return np.zeros(len(off))
    together = np.lib.stride_tricks.sliding_window_view(off, window, axis=1).mean(axis=2)
    with np.errstate(invalid="ignore", divide="ignore"):
        share = together / effect[:, None]
        as_far = (share >= _AS_FAR[0]) & (share <= _AS_FAR[1])
    just_before = np.logical_and.accumulate(as_far[:, ::-1], axis=1)[:, ::-1]
    return np.asarray((as_far & ~just_before).sum(axis=1) / (nights + 1))


def _scatter(past: Floats, stratum: Indices) -> tuple[Floats, Floats, Indices]:
    """Return centre, variance and number of each row's nights, without disturbed nights."""
    centre = row_medians(past)
    off = np.abs(past - centre[:, None])
    scale = SD_PER_MAD * row_medians(off)
    usual = np.full(len(past), _LEAST_SCATTER)
    for one in np.unique(stratum):
        here = (stratum == one) & (scale > 0)
        if here.any():
            usual[stratum == one] = np.median(scale[here])
    scale = np.maximum(np.where(np.isfinite(scale), scale, 0.0), usual)
    kept = np.isfinite(past) & (off <= DISTURBED * scale[:, None])
    number = kept.sum(axis=1)
    clean = np.where(kept, past, np.nan)
    middle = row_medians(clean)
    sums = np.nansum(near(clean - middle[:, None], scale[:, None]), axis=1)
    centre = middle + sums / np.maximum(number, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of rows with less than two nights
        variance = np.nanvar(clean, axis=1, ddof=1) if past.size else centre
    return centre, np.where(number > 1, variance, np.nan), number


def _prior(
    variance: Floats,
    number: Indices,
    within: Floats,
    series: Nightly,
    usual: Floats | float,
) -> tuple[Floats, Floats]:
    """Return the variance that similar series make likely, and its degrees of freedom."""
    usual = np.broadcast_to(np.asarray(usual, dtype=float), variance.shape)
    prior, worth = np.zeros(len(variance)), np.full(len(variance), _USUAL_FREEDOM)
    mean_launches = np.maximum(series.launches.number.mean(axis=1), 1)
    for one in np.unique(series.stratum):
        here = series.stratum == one
        # A series whose launches differ much scatters much, which few nights do not show yet.
        launches = within[here] / mean_launches[here]
        guess = usual[here] ** 2 + np.maximum(np.median(launches), MEDIAN_VARIANCE * launches)
        prior[here] = guess
        seen = here & np.isfinite(variance) & (variance > 0)
        if seen.sum() < _FEWEST_ALIKE:
            continue
        freedom = float(np.median(number[seen])) - 1
        middle, own = pooled_variance(variance[seen], number[seen] - 1.0)
        # The nights of similar series are the same nights, so few nights of many series are few.
        # Variances differ by factors: of their arithmetic mean, the larger one would be all.
        weight = freedom / (_USUAL_FREEDOM + freedom)
        prior[here] = guess ** (1 - weight) * middle**weight
        worth[here] = np.clip(own, _LEAST_PRIOR, min(_USUAL_FREEDOM + freedom, MOST_PRIOR))
    return prior, worth


def _fewer_launches(within: Floats, launches: Indices) -> Floats:
    """Return how much more tonight scatters because it has fewer launches than usual."""
    past = np.where(launches[:, :-1] > 0, launches[:, :-1], np.nan)
    usual = row_medians(past)
    more = 1 / np.maximum(launches[:, -1], 1) - 1 / np.where(np.isfinite(usual), usual, 1.0)
    return within * np.maximum(more, 0.0)
