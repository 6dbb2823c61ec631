"""Detectors of other projects, each as a function from a curve to boundaries.

A boundary is the index of the first size after it. Peers get the same medians and standard errors.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from switchpoint.detection.noise import NOISE_FLOOR
from switchpoint.tables.sweeps import Floats

Detector = Callable[[Floats, Floats, Floats], list[int]]


def ruptures_pelt(size: Floats, time: Floats, error: Floats) -> list[int]:
    """`ruptures`: PELT with its linear-regression cost, weighted by the noise."""
    import ruptures

    noise = _noise(time, error)
    signal = np.column_stack([time / noise, size / size[-1] / noise, 1 / noise])
    found = ruptures.Pelt("linear", min_size=3, jump=1).fit(signal).predict(pen=_penalty(size))
    return [int(place) for place in found[:-1]]


def pwlf_bic(size: Floats, time: Floats, error: Floats) -> list[int]:
    """`pwlf`: continuous segments, 1 to 5 of them, as many as the information criterion wants."""
    import pwlf

    weights = 1 / _noise(time, error)
    fit = pwlf.PiecewiseLinFit(size, time, weights=weights)
    best, places = np.inf, np.array([])
    for segments in range(1, 6):
        breaks = fit.fitfast(segments, pop=3) if segments > 1 else fit.fit_with_breaks(
            [size[0], size[-1]]
        )  # fmt: skip
        misfit = float((((time - fit.predict(size)) * weights) ** 2).sum())
        score = misfit + segments * _penalty(size)
        if score < best:
            best, places = score, np.asarray(breaks)[1:-1] if segments > 1 else np.array([])
    return sorted({int(np.searchsorted(size, place)) for place in places})


def ratio_of_neighbours(size: Floats, time: Floats, error: Floats) -> list[int]:
    """Report where the time grows by over 30 % more, or less, than on both sides of the place."""
    growth = np.diff(np.log(time))
    around = (growth[:-2] + growth[2:]) / 2
    return [int(place) + 2 for place in np.flatnonzero(np.abs(growth[1:-1] - around) > 0.26)]


def netgauge_lookahead(size: Floats, time: Floats, error: Floats) -> list[int]:
    """Netgauge's rule (Hoefler et al. 2007): a fit's error doubles over three further sizes."""
    found, start, last = [], 0, 3
    while last + 3 < len(size):
        sofar = _deviation(size[start:last], time[start:last])
        further = [_deviation(size[start : last + n], time[start : last + n]) for n in (1, 2, 3)]
        if sofar > 0 and min(further) > 2 * sofar:
            found.append(last)
            start, last = last, last + 3
        else:
            last += 1
    return found


def _penalty(size: Floats) -> float:
    """Return the cost of one more piece, in units of squared noise.

    So large that PELT shows something in at most 3 of 100 curves of noise with five repeats.
    """
    return max(4.2 * float(np.log(len(size))), 14.0)


def _deviation(size: Floats, time: Floats) -> float:
    """Mean squared deviation from the least-squares line."""
    return float(np.mean((time - np.polyval(np.polyfit(size, time, 1), size)) ** 2))


def _noise(time: Floats, error: Floats) -> Floats:
    return np.asarray(np.hypot(error, NOISE_FLOOR) * time)


PEERS: dict[str, Detector] = {
    "ruptures, PELT linear": ruptures_pelt,
    "pwlf, continuous, BIC": pwlf_bic,
    "ratio of neighbours": ratio_of_neighbours,
    "Netgauge's look-ahead": netgauge_lookahead,
}
