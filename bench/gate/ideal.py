"""What a test finds that knows all of a change but whether it is there.

It knows the curves, the night and the kind of each change, and how much the noise of these curves
scatters; no site knows any of this. It looks at the launches' medians at all sizes, weighted by the
change over the variance there, and compares the mean of the 1 to 7 newest nights with that of the
30 nights before. It is as strict as one false finding a month of 5,000 curves demands, if its
values were normal.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from statistics import NormalDist

import numpy as np
from recorded import NIGHTS, Curve, Floats, History, Truth, transports

#: Nights that are compared with so many before them.
_BEFORE = 30

#: The scatter is that of so many unchanged histories, whose seeds no other history has, at nights
#: so far apart.
_HISTORIES = 60
_FIRST_SEED = 5000
_APART = 5
_FIRST = 20


def finds(history: History, truth: Truth, patience: int, false: float) -> bool:
    """Whether such a test finds a change of latency or bandwidth.

    Parameters
    ----------
    history, truth
        The change, and the history that has it.
    patience
        The change must be found within so many nights.
    false
        The probability with which it finds a curve that did not change.
    """
    curves = sorted(truth.curves)
    effects = np.array(
        [_effects(_levels(history, one, truth), truth.night, patience) for one in curves]
    )
    noise = np.array(
        [_noise(name, truth.kind, truth.effect, history.noise, patience) for name, _ in curves]
    )
    weight = 1 / noise**2
    deviates = (weight * effects).sum(axis=0) / np.sqrt(weight.sum(axis=0))
    return bool(deviates.max() >= NormalDist().inv_cdf(1 - false))


def _effects(level: Floats, night: int, patience: int) -> Floats:
    """Return how far the mean of the 1, 2 and more newest nights is from that of those before."""
    newest = np.cumsum(level[night : night + patience]) / np.arange(1, patience + 1)
    return np.asarray(newest - level[max(night - _BEFORE, 0) : night].mean())


def _levels(history: History, curve: Curve, truth: Truth) -> Floats:
    """Return for each night how much of the change its launches show on average."""
    transport = transports()[curve[0]]
    alone = History(0, history.noise, 1, [replace(truth, night=1, curves=frozenset([curve]))])
    before, changed = alone.typical_us(curve)[:2]
    change = np.log(changed / before)
    scale = history.noise / transport.scatter
    variance = np.median(transport.noise, axis=1).var(axis=0) * scale**2
    weight = change / (variance + 1e-6)
    launches = np.log(np.median(history.times_us(curve), axis=2) / before)
    return np.asarray((launches @ weight).mean(axis=1) / (weight @ change))


@cache
def _noise(transport: str, kind: str, effect: float, noise: float, patience: int) -> Floats:
    """Return the standard deviation of `_effects` without a change."""
    curve = (transport, 0)
    truth = Truth(kind, effect, 0, frozenset([curve]))
    seeds = range(_FIRST_SEED, _FIRST_SEED + _HISTORIES)
    levels = [_levels(History(seed, noise, 1), curve, truth) for seed in seeds]
    nights = range(_FIRST, NIGHTS - patience, _APART)
    effects = [_effects(level, night, patience) for level in levels for night in nights]
    return np.asarray(np.std(effects, axis=0))
