"""What is computed of each curve by itself: shape, moved switches, parameters, and what is left.

Curves are worked on in parts, which needs little memory, and the parts are spread over the cores.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace

import numpy as np

from switchpoint.cores import workers
from switchpoint.gating.by_session import LaunchesBySession
from switchpoint.gating.odd_sizes import slower_by_place, unexplained
from switchpoint.gating.parameters import Parameters, parameters_of
from switchpoint.gating.points import Points
from switchpoint.gating.shapes import Shapes, shapes_of
from switchpoint.gating.switches import MovedSwitch, moved_switches
from switchpoint.tables.sweeps import Floats

#: The number of points that are worked on at once, and the number of parts from which processes
#: are started.
_POINTS_AT_ONCE = 500_000
_WORTH_A_POOL = 3


@dataclass(frozen=True)
class ByCurve:
    """What is known of each curve by itself.

    Attributes
    ----------
    shapes : Shapes
    moved : list of MovedSwitch
        Switches that are at another place in the current session.
    parameters : Parameters
        Latency, time per byte and noise, without the sizes across which a switch moved.
    slower : array of float
        How much slower each place of the shapes is in the current session than in the baseline, as
        a logarithm.
    rest : LaunchesBySession
        How much slower each place of the shapes was than its parameters explain, as a logarithm.
    """

    shapes: Shapes
    moved: list[MovedSwitch]
    parameters: Parameters
    slower: Floats
    rest: LaunchesBySession


def by_curve(points: Points) -> ByCurve:
    """Compare every curve with its own baseline; `points` are of all sessions."""
    parts = points.parts(_POINTS_AT_ONCE)
    with workers(worthwhile=len(parts) >= _WORTH_A_POOL) as apply:
        return _joined(apply(_by_curve, parts))


def _by_curve(points: Points) -> ByCurve:
    shapes = shapes_of(points)
    moved = moved_switches(points, shapes)
    across = np.isin(shapes.place, [place for switch in moved for place in switch.places])
    across &= points.session == points.sessions - 1
    parameters = parameters_of(points, shapes, across)
    slower = slower_by_place(points, shapes, across)
    rest = unexplained(slower, shapes, parameters)
    nowhere = np.zeros(0, dtype=np.intp)  # the points themselves are needed no longer
    return ByCurve(
        replace(shapes, place=nowhere), moved, parameters, slower.per_session[:, -1], rest
    )


def _joined(parts: Iterable[ByCurve]) -> ByCurve:
    """Join parts, whose segments and places are numbered from 0 in each."""
    shapes, moved, parameters, slower, rest = [], [], [], [], []
    segments = places = 0
    for part in parts:
        of_part = part.shapes
        shapes.append(replace(of_part, segment=of_part.segment + segments))
        moved += [replace(switch, places=switch.places + places) for switch in part.moved]
        parameters.append(part.parameters.numbered_from(segments))
        slower.append(part.slower)
        rest.append(part.rest)
        segments += len(of_part.segment_curve)
        places += len(of_part.size)
    arrays = {
        field.name: np.concatenate([getattr(shape, field.name) for shape in shapes])
        for field in fields(Shapes)
    }
    return ByCurve(
        Shapes(**arrays),
        moved,
        Parameters.joined(parameters),
        np.concatenate(slower),
        LaunchesBySession.joined(rest),
    )
