"""How probable it is that launches which are slow by chance look like a change.

A few launches are much slower than the others: on a node with a guest, or with buffers in an
unlucky place. If most of a night's launches are so by chance, the night's value is. How often
launches are so slow, the histories of similar series tell, whatever their distribution.

Two tests ask it: how many launches are about as far off as the change, and how far off they are on
average. The first sees large changes of few launches. The second sees a change of several nights
that is no larger than what launches differ by, where half of the launches show it by chance.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from switchpoint.tables.sweeps import Floats, Indices

#: A launch shows an effect if it is off by this share of it.
_SHOWN = 0.8

#: Tilts of Chernoff's bound, over the scatter from night to night.
_TILTS: Floats = 2.0 ** (np.arange(-6, 11) / 2)

#: Launches between two of these, over the same scatter, are looked at together.
_EDGES: Floats = np.r_[np.linspace(-8, 8, 321), np.geomspace(8.3, 1e4, 200)]

#: So many series are looked at together, to save memory.
_AT_ONCE = 4096


def by_chance(
    launches: npt.NDArray[np.float32],
    usual: npt.NDArray[np.bool_],
    centre: Floats,
    effect: Floats,
    scatter: Floats,
    alike: Indices,
    asked: Indices,
) -> Floats:
    """Return the probability that the newest launches are as far off by chance.

    Parameters
    ----------
    launches : array of float, shape (series, nights, launches)
        NaN where there is none.
    usual : array of bool, shape (series, earlier nights)
        The earlier nights that tell how launches usually are. The other nights are the newest.
    centre, effect, scatter : array of float, shape (series,)
        The centre of the history, how far the newest nights are from it, and how far nights usually
        are.
    alike : array of int, shape (series,)
        Series with the same number have launches that are slow as often.
    asked : array of int
        The series that are asked for.

    Returns
    -------
    array of float, shape (asked,)
        0 if no launch of any history was so far off.
    """
    earlier = usual.shape[1]
    if not len(asked):
        return np.zeros(0)
    sign = np.where(effect < 0, -1.0, 1.0)[asked]
    least = _SHOWN * np.abs(effect[asked])

    def off(rows: Indices) -> Floats:
        values = launches[rows, :earlier] - centre[rows, None, None]
        return np.where(usual[rows, :, None], values, np.nan)

    newest = (launches[asked, earlier:] - centre[asked, None, None]) * sign[:, None, None]
    trials = np.isfinite(newest).sum(axis=(1, 2))
    mean = np.nansum(newest, axis=(1, 2)) / np.maximum(trials, 1) / scatter[asked]
    share, of_mean = np.zeros(len(asked)), np.zeros(len(asked))
    for one in np.unique(alike[asked]):
        rows = np.flatnonzero(alike == one)
        similar = off(rows) / scatter[rows, None, None]
        for way in (-1.0, 1.0):
            which = np.flatnonzero((alike[asked] == one) & (sign == way))
            if not len(which):
                continue
            each = np.sort((way * similar)[np.isfinite(similar)])
            share[which] = _share(way * similar, (least / scatter[asked])[which], each)
            of_mean[which] = _mean_at_least(mean[which], trials[which], _cumulants(*_bins(each)))
    for number, row in enumerate(asked):
        own = sign[number] * off(np.array([row]))
        [own_share] = _share(own, least[number : number + 1], np.sort(own[np.isfinite(own)]))
        share[number] = max(share[number], own_share)
    for part in np.array_split(np.arange(len(asked)), len(asked) // _AT_ONCE + 1):
        relative = off(asked[part]) * (sign[part] / scatter[asked[part]])[:, None, None]
        cumulants = _cumulants(relative.reshape(len(part), -1))
        of_own = _mean_at_least(mean[part], trials[part], cumulants)
        of_mean[part] = np.maximum(of_mean[part], of_own)
    shown = (newest >= least[:, None, None]).sum(axis=(1, 2))
    return np.minimum(_at_least(shown, trials, share), of_mean)


def _share(off: Floats, least: Floats, each: Floats) -> Floats:
    """Return the share of launches that were at least so far off, and not with all of their night.

    Of a night that is off as a whole, launches are not the cause.

    Parameters
    ----------
    off : array of float, shape (..., launches)
        NaN where there is none.
    least : array of float, shape (n,)
    each : array of float, shape (launches of all nights,)
        All that there are, sorted.

    Returns
    -------
    array of float, shape (n,)
    """
    there = np.isfinite(off)
    nearest = np.where(there, off, np.inf).min(axis=-1, keepdims=True, initial=np.inf)
    nights = np.sort(np.broadcast_to(nearest, off.shape)[there])
    number = np.searchsorted(nights, least) - np.searchsorted(each, least)
    return np.asarray(number / (len(each) + 1))


def _bins(each: Floats) -> tuple[Floats, Floats]:
    """Return the means of neighbouring values, of shape (1, bins), and how many each stands for."""
    if not len(each):
        return each[None], each
    first = np.unique(np.r_[0, np.searchsorted(each, _EDGES)])
    first = first[first < len(each)]
    number = np.diff(np.r_[first, len(each)])
    return (np.add.reduceat(each, first) / number)[None], number.astype(float)


def _cumulants(off: Floats, number: Floats | float = 1.0) -> Floats:
    """Return the logarithms of the mean of exp(tilt * value), of each row for each tilt.

    Parameters
    ----------
    off : array of float, shape (rows, values)
        NaN where there is none.
    number : array of float, shape (values,)
        How many values each stands for.
    """
    there = np.isfinite(off)
    weight = np.where(there, number, 0.0)
    largest = np.where(there, off, -np.inf).max(axis=1, keepdims=True, initial=-np.inf)
    below = np.where(there, off - largest, 0.0)
    sums = np.stack([(weight * np.exp(tilt * below)).sum(axis=1) for tilt in _TILTS], axis=1)
    total = weight.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.log(sums / total) + largest * _TILTS
    return np.where(total > 0, found, np.inf)  # without a launch, nothing is improbable


def _mean_at_least(mean: Floats, trials: Indices, cumulants: Floats) -> Floats:
    """Return a bound of the probability that so many launches have at least such a mean.

    Chernoff (1952), Annals of Mathematical Statistics 23(4), pp. 493-507: for any tilt it is at
    most the mean of exp(tilt * value) to the power of their number, over exp(tilt * sum).
    """
    exponent = trials[:, None] * (cumulants - mean[:, None] * _TILTS)
    return np.asarray(np.exp(np.minimum(exponent.min(axis=1), 0.0)))


def _at_least(successes: Indices, trials: Indices, share: Floats) -> Floats:
    """Return the probability of at least so many successes in independent trials."""
    most = int(trials.max(initial=0))
    ways = np.array([[math.comb(n, k) for k in range(most + 1)] for n in range(most + 1)], float)
    total = np.zeros(len(share))
    for number in range(most + 1):
        rest = np.maximum(trials - number, 0)
        exactly = ways[trials, number] * share**number * (1 - share) ** rest
        total += np.where(number >= successes, exactly, 0.0)
    return total
