"""How probable it is that launches which are slow by chance look like a change.

A few launches are much slower than the others: on a node with a guest, or with buffers in an
unlucky place. If most of a night's launches are so by chance, the night's median is. How often
launches are so slow, the histories of similar series tell, whatever their distribution.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from switchpoint.tables.sweeps import Floats, Indices

#: A launch shows an effect if it is off by this share of it.
_SHOWN = 0.8


def by_chance(
    launches: npt.NDArray[np.float32],
    usual: npt.NDArray[np.bool_],
    centre: Floats,
    effect: Floats,
    scatter: Floats,
    alike: Indices,
    asked: Indices,
) -> Floats:
    """Return the probability that as many of the newest launches are as far off by chance.

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
    sign = np.where(effect < 0, -1.0, 1.0)[asked]
    least = _SHOWN * np.abs(effect[asked])

    def off(rows: Indices) -> Floats:
        values = launches[rows, :earlier] - centre[rows, None, None]
        return np.where(usual[rows, :, None], values, np.nan)

    share = np.zeros(len(asked))
    for one in np.unique(alike[asked]):
        rows = np.flatnonzero(alike == one)
        similar = off(rows) / scatter[rows, None, None]
        for way in (-1.0, 1.0):
            which = (alike[asked] == one) & (sign == way)
            share[which] = _share(way * similar, (least / scatter[asked])[which])
    for number, row in enumerate(asked):
        [own] = _share(sign[number] * off(np.array([row])), least[number : number + 1])
        share[number] = max(share[number], own)
    newest = (launches[asked, earlier:] - centre[asked, None, None]) * sign[:, None, None]
    shown = (newest >= least[:, None, None]).sum(axis=(1, 2))
    return _at_least(shown, np.isfinite(newest).sum(axis=(1, 2)), share)


def _share(off: Floats, least: Floats) -> Floats:
    """Return the share of launches that were at least so far off, and not with all of their night.

    Of a night that is off as a whole, launches are not the cause.

    Parameters
    ----------
    off : array of float, shape (..., launches)
    least : array of float, shape (n,)

    Returns
    -------
    array of float, shape (n,)
    """
    there = np.isfinite(off)
    nearest = np.where(there, off, np.inf).min(axis=-1, keepdims=True, initial=np.inf)
    each, nights = np.sort(off[there]), np.sort(np.broadcast_to(nearest, off.shape)[there])
    number = np.searchsorted(nights, least) - np.searchsorted(each, least)
    return np.asarray(number / (len(each) + 1))


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
