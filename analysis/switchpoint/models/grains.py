"""Finds the task below which a divided task with a ring exchange does not pay (study 002)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from switchpoint.models.collectives import Where
from switchpoint.models.efficiency import break_even_us
from switchpoint.models.kernels import RING, Options, Problem
from switchpoint.models.prediction import predict_one
from switchpoint.models.site_model import SiteModel


@dataclass(frozen=True)
class GrainAdvice:
    """The break-even grain: a shorter task is faster on one rank.

    Attributes
    ----------
    ranks, size_bytes : int
        np, and the message to the right neighbour.
    exchange_us : float
        Tcom.
    grain_us, low_us, high_us : float
        The time of the whole task on one rank at which both are equal, and its interval.
    notes : list of str
        What limits the prediction.
    """

    ranks: int
    size_bytes: int
    exchange_us: float
    grain_us: float
    low_us: float
    high_us: float
    notes: list[str]


def break_even_grains(
    model: SiteModel, where: Where, sizes_bytes: Sequence[int]
) -> list[GrainAdvice]:
    """Return the break-even grain of each message size.

    Raises
    ------
    InputError
        If the model lacks what is needed.
    """
    ranks = where.group.ranks
    mode = "sendrecv" if ranks % 2 else "alternate"
    found = []
    for size_bytes in sizes_bytes:
        problem = Problem(RING, mode, ranks, size_bytes, Options(grain=0))
        exchange = predict_one(model, problem, where.place, where.layout, where.within)
        even, low, high = (
            break_even_us(ranks, time_us)
            for time_us in (exchange.time_us, exchange.low_us, exchange.high_us)
        )
        # Without a task the calibration of the task does not matter.
        notes = [note for note in exchange.notes if "not calibrated" not in note]
        found.append(GrainAdvice(ranks, size_bytes, exchange.time_us, even, low, high, notes))
    return found
