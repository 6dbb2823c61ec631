"""How far the current session may lie from its baseline by chance.

The sessions are the replicates: launches and samples of one session agree too well. The level of
the baseline is the mean of its middle half, so that one bad session neither moves it nor hides what
comes later. With few sessions the scatter of one series is hardly known, so that of similar series
helps: the variance is moderated (Smyth 2004, Statistical Applications in Genetics and Molecular
Biology 3(1), article 3).
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy import special

from switchpoint.gating.by_session import LaunchesBySession, row_medians, row_midmeans
from switchpoint.gating.levels import LEAST_SCATTER
from switchpoint.tables.student import SD_PER_MAD
from switchpoint.tables.sweeps import Floats, Indices

#: A session further from the median than this many standard deviations was disturbed. It does not
#: tell how much the others scatter, unless several, and more than this share, are: then that is how
#: the series scatters.
DISTURBED = 4.0
_OFTEN_DISTURBED = 0.07

#: So many newest sessions are compared together with at least as many, by the mean of their middle
#: half.
_WINDOWS = (1, 3, 7)

#: Whatever is off by this share of a change shows it: the current session what several of the
#: newest show, most of its launches what the session shows, and a curve what its group does.
SHOWS = 0.5

#: What is more probable than this is no change in any case.
_RARE = 0.05

#: Variance over that of a mean, of normal values: of a median, and of the mean of the middle half,
#: which is at most this for any number of values.
MEDIAN_VARIANCE = math.pi / 2
_MIDMEAN_VARIANCE = 1.35

#: Before there is a baseline: the relative scatter from session to session, and how many degrees of
#: freedom this counts.
USUAL_SCATTER = 0.03
_USUAL_FREEDOM = 6.0

#: Fewer similar series do not show how much their variances differ.
_FEWEST_ALIKE = 5

#: No correlation of sessions beside each other is larger.
MOST_CORRELATED = 0.9


@dataclass(frozen=True)
class TestResult:
    """The current session compared with the baseline; one entry for each series.

    Attributes
    ----------
    centre : array of float
        The level of the baseline.
    effect : array of float
        How far the newest sessions are from it, as far back as they show it; NaN without a current
        or an earlier session.
    scatter : array of float
        Standard deviation from session to session.
    error : array of float
        Standard error of the effect.
    freedom : array of float
        Degrees of freedom of the error.
    p : array of float
        The probability of such an effect by chance; 1 if it is not known.
    """

    __test__ = False  # no class of tests for pytest

    centre: Floats
    effect: Floats
    scatter: Floats
    error: Floats
    freedom: Floats
    p: Floats

    def interval(self) -> tuple[Floats, Floats]:
        """Return the 95 % confidence intervals of the effects."""
        half = special.stdtrit(self.freedom, 0.975) * self.error
        return self.effect - half, self.effect + half


def visible(scatter: float, sessions: int, p: float) -> float:
    """Return the smallest effect that is found with a probability by chance of at most `p`.

    Parameters
    ----------
    scatter
        Standard deviation from session to session.
    sessions
        The number of earlier ones.
    p
        The current session alone is tested.
    """
    error = scatter * math.sqrt(1 + min(_MIDMEAN_VARIANCE / sessions, 1.0))
    return -float(special.stdtrit(_USUAL_FREEDOM + sessions - 1, p / 2)) * error


@dataclass(frozen=True)
class Series:
    """Series of sessions.

    Attributes
    ----------
    launches : LaunchesBySession
        The values of a series' launches, a row each.
    normal : array of bool, shape (series, sessions)
        Whether a session is one that the newest are compared with.
    similar : array of int, shape (series,)
        Series with the same number are similar: in how much they scatter, in how often a launch is
        slow, and in how much a session is like the one before.
    """

    launches: LaunchesBySession
    normal: npt.NDArray[np.bool_]
    similar: Indices

    @property
    def values(self) -> Floats:
        """The value of each session, shape (series, sessions); NaN where there is none."""
        return self.launches.per_session

    @property
    def baseline(self) -> Floats:
        """The values of normal sessions, NaN for the others."""
        return np.where(self.normal, self.values, np.nan)


def compare(series: Series, usual: Floats | float = USUAL_SCATTER) -> TestResult:
    """Compare the newest sessions with those before them.

    A change that is small beside the scatter is seen in several sessions together: the current one
    is tested, and the middle of the newest if the current one alone shows at least half of it.

    Parameters
    ----------
    series
        The last session is the current one.
    usual
        Scatter from session to session before there is a baseline, of all series or of each.
    """
    sessions = series.values.shape[1]
    windows = [window for window in _WINDOWS if sessions >= 2 * window]
    tests = [_compare(series, window, usual) for window in windows]
    p = np.stack([test.p for test in tests])
    best = p.argmin(axis=0)
    possible = sum(np.isfinite(test.effect).astype(int) for test in tests)

    def chosen(name: str) -> Floats:
        values = np.stack([getattr(test, name) for test in tests])
        return np.asarray(np.take_along_axis(values, best[None], axis=0)[0])

    return TestResult(
        chosen("centre"),
        chosen("effect"),
        chosen("scatter"),
        chosen("error"),
        chosen("freedom"),
        # Several windows are several chances.
        np.minimum(p.min(axis=0) * np.maximum(possible, 1), 1.0),
    )


def _compare(series: Series, window: int, usual: Floats | float) -> TestResult:
    """Compare so many newest sessions with those before them."""
    past, newest = series.baseline[:, :-window], series.values[:, -window:]
    centre, variance, number = _level(past, series.similar)
    within = np.nan_to_num(series.launches.variance)
    prior, worth = _prior(variance, number, within, series, usual)
    freedom = np.maximum(number - 1, 0)
    squares = np.where(freedom > 0, np.nan_to_num(variance) * freedom, 0.0)
    moderated = np.maximum((prior * worth + squares) / (worth + freedom), LEAST_SCATTER**2)
    neighbours = correlation(past, centre, series.similar) if window > 1 else np.zeros(len(past))
    # Sessions that are like those before them say less together (a first-order autoregression).
    dependent = _MIDMEAN_VARIANCE * (1 + neighbours) / (1 - neighbours)
    of_level = np.minimum(dependent / np.maximum(number, 1), 1.0)
    fewer = _fewer_launches(within, series.launches.number)

    def error(sessions: Indices | int) -> Floats:
        of_newest = np.minimum(dependent / sessions, 1.0)
        return np.asarray(np.sqrt(moderated * (of_newest + of_level) + fewer / sessions))

    complete = np.isfinite(newest).all(axis=1) & (number >= window)
    effect = np.where(complete, row_midmeans(newest) - centre, np.nan)
    test = TestResult(
        centre, effect, np.sqrt(moderated), error(window), worth + freedom, np.ones(len(past))
    )
    p = 2 * special.stdtr(test.freedom, -np.abs(np.nan_to_num(effect)) / test.error)
    p = np.where(complete & _shown(series, test), p, 1.0)
    rare = np.flatnonzero(p <= _RARE)
    p[rare] = np.maximum(p[rare], _of_slow_launches(series, test, window, rare))
    since = _showing(newest - centre[:, None], effect)
    showing = np.where(np.arange(window) >= window - since[:, None], newest, np.nan)
    return replace(test, effect=row_midmeans(showing) - centre, error=error(since), p=p)


def _showing(off: Floats, effect: Floats) -> Indices:
    """Return since how many sessions an effect is there: the split that makes it likeliest.

    Sessions before it would make the effect look smaller than it is.
    """
    sign = np.where(effect < 0, -1.0, 1.0)
    for_it = np.nan_to_num(sign[:, None] * off - np.abs(effect)[:, None] / 2)
    return np.asarray(np.cumsum(for_it[:, ::-1], axis=1).argmax(axis=1) + 1)


def _shown(series: Series, test: TestResult) -> npt.NDArray[np.bool_]:
    """Return whether the lower middle one of the current launches shows half of an effect."""
    sign = np.where(test.effect < 0, -1.0, 1.0)
    off = sign[:, None] * (series.launches.each[:, -1] - test.centre[:, None])
    number = np.isfinite(off).sum(axis=1)
    ordered = np.sort(off, axis=1)  # NaN is last
    middle = np.take_along_axis(ordered, np.maximum(number - 1, 0)[:, None] // 2, axis=1)[:, 0]
    return np.asarray(middle >= SHOWS * np.abs(test.effect))


def _of_slow_launches(series: Series, test: TestResult, window: int, rows: Indices) -> Floats:
    """Return how probable it is that as many launches of the newest sessions show an effect.

    Some launches are slow by themselves. How often, the launches of the baseline tell, of the same
    series and of similar ones. Those of a session that is off as a whole do not: they are not the
    cause.
    """
    if not len(rows):
        return np.zeros(0)
    sign = np.where(test.effect < 0, -1.0, 1.0)
    usual = series.normal[:, :-window, None]
    off = np.where(usual, series.launches.each[:, :-window] - test.centre[:, None, None], np.nan)
    each = series.launches.each[rows, -window:].reshape(len(rows), -1)
    newest = sign[rows, None] * (each - test.centre[rows, None])
    trials = np.isfinite(newest).sum(axis=1)
    half = SHOWS * np.abs(test.effect[rows, None])
    showing = np.nan_to_num(newest, nan=-np.inf) >= half
    shown = showing.sum(axis=1)
    # Launches that are slow by themselves, but less than all that show the effect, are no cause.
    least = np.where(showing, newest, np.inf).min(axis=1, initial=np.inf)
    pairs = zip(rows, least[:, None], strict=True)
    share = np.array([_share(sign[row] * off[row], own)[0] for row, own in pairs])
    for group in np.unique(series.similar[rows]):
        members = np.flatnonzero(series.similar == group)
        relative = off[members] / test.scatter[members, None, None]
        for way in (-1.0, 1.0):
            which = np.flatnonzero((series.similar[rows] == group) & (sign[rows] == way))
            if len(which):
                asked = rows[which]
                of_similar = _share(way * relative, least[which] / test.scatter[asked])
                share[which] = np.maximum(share[which], of_similar)
    return np.asarray(special.bdtrc(shown - 1, trials, share))


def _share(off: npt.NDArray[np.floating], least: Floats) -> Floats:
    """Return the share of launches that were at least so far off, and not with all of a session.

    Parameters
    ----------
    off : array of float, shape (..., launches)
        NaN where there is none.
    least : array of float, shape (n,)
    """
    there = np.isfinite(off)
    nearest = np.where(there, off, np.inf).min(axis=-1, keepdims=True, initial=np.inf)
    whole = np.sort(np.broadcast_to(nearest, off.shape)[there])
    each = np.sort(off[there])
    number = np.searchsorted(whole, least) - np.searchsorted(each, least)
    return np.asarray(number / (len(each) + 1))


def _level(past: Floats, similar: Indices) -> tuple[Floats, Floats, Indices]:
    """Return level, variance and number of each row's sessions, without rare disturbed ones."""
    centre = row_medians(past)
    off = np.abs(past - centre[:, None])
    scale = SD_PER_MAD * row_medians(off)
    usual = np.full(len(past), LEAST_SCATTER)
    for group in np.unique(similar):
        here = (similar == group) & (scale > 0)
        if here.any():
            usual[similar == group] = np.median(scale[here])
    scale = np.maximum(np.nan_to_num(scale), usual)
    there = np.isfinite(past)
    near = off <= DISTURBED * scale[:, None]
    disturbed = (there & ~near).sum(axis=1)
    often = disturbed > np.maximum(_OFTEN_DISTURBED * there.sum(axis=1), 1)
    kept = there & (near | often[:, None])
    clean = np.where(kept, past, np.nan)
    number = kept.sum(axis=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of rows with less than two sessions
        variance = np.nanvar(clean, axis=1, ddof=1) if past.size else centre
    return row_midmeans(clean), np.where(number > 1, variance, np.nan), number


def _prior(
    variance: Floats, number: Indices, within: Floats, series: Series, usual: Floats | float
) -> tuple[Floats, Floats]:
    """Return the variance that similar series make likely, and its degrees of freedom."""
    usual = np.broadcast_to(np.asarray(usual, dtype=float), variance.shape)
    prior, worth = np.zeros(len(variance)), np.full(len(variance), _USUAL_FREEDOM)
    mean_launches = np.maximum(series.launches.number.mean(axis=1), 1)
    for group in np.unique(series.similar):
        here = series.similar == group
        # A series whose launches differ much scatters much, which few sessions do not show yet.
        launches = within[here] / mean_launches[here]
        guess = usual[here] ** 2 + np.maximum(np.median(launches), MEDIAN_VARIANCE * launches)
        prior[here] = guess
        seen = here & np.isfinite(variance) & (variance > 0)
        if seen.sum() < _FEWEST_ALIKE:
            continue
        freedom = float(np.median(number[seen])) - 1
        # The sessions of similar series are the same ones, so few of many series are few.
        most = _USUAL_FREEDOM + freedom
        middle, pooled_worth = _pooled(variance[seen], number[seen] - 1.0, most)
        # Variances differ by factors: of their arithmetic mean, the larger one would be all.
        weight = freedom / most
        prior[here] = guess ** (1 - weight) * middle**weight
        worth[here] = max(pooled_worth, _USUAL_FREEDOM / 2)
    return prior, worth


def _pooled(variance: Floats, freedom: Floats, most: float) -> tuple[float, float]:
    """Return the typical variance of similar series, and how many degrees of freedom it is worth.

    If the series' variances differ by no more than chance, one is as good as the other, and the
    typical one is worth the most.
    """
    logs = np.log(variance) - np.log(special.chdtri(freedom, 0.5) / freedom)
    spread = float(np.median(np.abs(logs - np.median(logs))) / special.ndtri(0.75)) ** 2
    rest = spread - float(special.polygamma(1, np.median(freedom) / 2))
    worths = np.linspace(1, most, 100)
    worth = float(worths[np.searchsorted(-special.polygamma(1, worths / 2), -rest).clip(0, 99)])
    middle = float(np.median(logs))
    if worth < most:
        middle += float(np.log(special.chdtri(worth, 0.5) / worth))
    return math.exp(middle), worth


def _fewer_launches(within: Floats, launches: Indices) -> Floats:
    """Return how much more the current session scatters if it has fewer launches than usual."""
    past = np.where(launches[:, :-1] > 0, launches[:, :-1], np.nan)
    usual = row_medians(past)
    more = 1 / np.maximum(launches[:, -1], 1) - 1 / np.where(np.isfinite(usual), usual, 1.0)
    return within * np.maximum(more, 0.0)


def correlation(past: Floats, centre: Floats, group: Indices) -> Floats:
    """Return the correlation of each series' neighbouring sessions, from 0 to 0.9.

    It is that of all similar series, and its standard error more: few sessions do not tell it well.
    Sessions that are far off count as if they were not: one that was disturbed is like no other.

    Parameters
    ----------
    past : array of float, shape (series, sessions)
        NaN where there is none.
    centre : array of float, shape (series,)
    group : array of int, shape (series,)
        Series with the same number are similar.
    """
    off = past - centre[:, None]
    reach = DISTURBED * SD_PER_MAD * row_medians(np.abs(off))[:, None]
    off = np.nan_to_num(np.where(np.abs(off) <= np.maximum(reach, LEAST_SCATTER), off, 0.0))
    length = np.sqrt((off**2).sum(axis=1, keepdims=True))
    off /= np.where(length > 0, length, 1)  # series count alike, however much they scatter
    products = (off[:, 1:] * off[:, :-1]).sum(axis=1)
    squares = (off**2).sum(axis=1)
    neighbours = np.zeros(len(past))
    for number in np.unique(group):
        here = group == number
        total = squares[here].sum()
        neighbours[here] = products[here].sum() / total if total > 0 else 0.0
        neighbours[here] += 1 / np.sqrt(max(np.isfinite(past[here]).sum(), 1))
    return np.clip(neighbours, 0.0, MOST_CORRELATED)


def false_discovery_control(p: Floats) -> Floats:
    """Return p values adjusted as Benjamini and Hochberg (1995) do.

    That is `scipy.stats.false_discovery_control`, without `scipy.stats`: loading it takes as long
    as all else that a gate of few curves does.
    """
    order = np.argsort(p)
    raised = p[order] * len(p) / np.arange(1, len(p) + 1)
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum.accumulate(raised[::-1])[::-1]
    return np.minimum(adjusted, 1.0)
