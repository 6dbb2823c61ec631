"""Single sizes, and runs of them, whose change no change of latency or bandwidth explains."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from switchpoint.gating.baseline import TestResult
from switchpoint.gating.by_session import LaunchesBySession, launches_by_session
from switchpoint.gating.parameters import Parameters, ratios
from switchpoint.gating.points import Points
from switchpoint.gating.shapes import Shapes
from switchpoint.tables.sweeps import Floats, Indices


@dataclass(frozen=True)
class OddSizes:
    """Neighbouring sizes of one curve that changed in the same direction.

    Attributes
    ----------
    curve : int
    first_size, last_size : int
        In bytes.
    places : array of int
        The places of these sizes in the shapes.
    effect, low, high : float
        The largest change, as a logarithm of time, with its 95 % interval.
    beside_switch : bool
        Whether it is one size beside a switch, which may have moved by one size.
    """

    curve: int
    first_size: int
    last_size: int
    places: Indices
    effect: float
    low: float
    high: float
    beside_switch: bool


def slower_by_place(
    points: Points, shapes: Shapes, left_out: npt.NDArray[np.bool_]
) -> LaunchesBySession:
    """Return how much slower each place was in each session than in the baseline.

    Parameters
    ----------
    points, shapes
        Of all sessions.
    left_out : array of bool
        Of each point: whether a moved switch explains it.

    Returns
    -------
    LaunchesBySession
        As logarithms, a row for each place. The variance between launches is without what all sizes
        of a launch have in common.
    """
    used = (shapes.place >= 0) & ~left_out
    shape = (len(shapes.size), points.sessions)
    place, session, ratio = shapes.place[used], points.session[used], ratios(points, shapes)[used]
    return launches_by_session(place, session, ratio, shape, points.launch[used])


def unexplained(
    slower: LaunchesBySession, shapes: Shapes, parameters: Parameters
) -> LaunchesBySession:
    """Return what latency and bandwidth do not explain of `slower_by_place`."""
    return slower.less(_explained(shapes, parameters))


def odd_sizes(
    test: TestResult, sure: npt.NDArray[np.bool_], slower: Floats, shapes: Shapes, least: float
) -> list[OddSizes]:
    """Return the sizes that are off, after what latency and bandwidth explain.

    A size that is as before while the others are slower has not improved: it must be faster itself,
    by the least effect.

    Parameters
    ----------
    test
        Of what is `unexplained`.
    sure : array of bool
        Of each place: whether chance does not explain it.
    slower : array of float
        How much slower each place is now in all, as a logarithm.
    shapes
        Of all curves.
    least
        The smallest effect that matters, as a logarithm.
    """
    odd = sure & (np.abs(np.nan_to_num(test.effect)) >= least)
    odd &= np.sign(test.effect) * slower >= least
    low, high = test.interval()
    changed = []
    for run in _runs(np.flatnonzero(odd), shapes.curve, test.effect):
        largest = run[np.argmax(np.abs(test.effect[run]))]
        changed.append(
            OddSizes(
                int(shapes.curve[run[0]]),
                int(shapes.size[run[0]]),
                int(shapes.size[run[-1]]),
                run,
                float(test.effect[largest]),
                float(low[largest]),
                float(high[largest]),
                len(run) == 1 and _is_beside_switch(run[0], shapes),
            )
        )
    return changed


def _explained(shapes: Shapes, parameters: Parameters) -> Floats:
    """Return what the parameters of its segment predict for each place and session."""
    levels = parameters.by_segment(len(shapes.segment_curve))
    latency, per_byte = (level[shapes.segment] for level in levels)
    share = shapes.latency_share[:, None]
    both = share * latency + (1 - share) * per_byte
    return np.where(np.isfinite(both), both, np.where(np.isnan(latency), per_byte, latency))


def _is_beside_switch(place: int, shapes: Shapes) -> bool:
    """Whether a place is next to another segment of its curve."""
    around = slice(max(place - 1, 0), place + 2)
    same_curve = shapes.curve[around] == shapes.curve[place]
    return len(np.unique(shapes.segment[around][same_curve])) > 1


def _runs(places: Indices, curve: Indices, effect: Floats) -> list[Indices]:
    """Split places into runs of neighbours of one curve with the same direction."""
    if not len(places):
        return []
    apart = (np.diff(places) > 1) | (np.diff(curve[places]) != 0)
    apart |= np.diff(np.sign(effect[places])) != 0
    return np.split(places, np.flatnonzero(apart) + 1)
