"""LU factors, inverse and product of matrices, as in src/studies/linear.c (study 004).

Computing is counted in multiply-adds, which take `unit_us` each.
"""

from __future__ import annotations

import math

from switchpoint.models.patterns.application_messages import (
    NUMBER_BYTES,
    broadcast,
    collect,
    compute,
    deal,
    shares,
)
from switchpoint.models.patterns.pattern import Pattern, Steps

PIVOT_BYTES = 4


def linear(problem: str, ranks: int, size_bytes: int, unit_us: float, block: int = 32) -> Pattern:
    """Describe one of the three problems.

    Parameters
    ----------
    problem
        `lu`, `inv` or `mult`.
    ranks, size_bytes
        How many, and the bytes of one matrix.
    unit_us
        Time of a multiply-add.
    block
        Columns that are factored at once.
    """
    every = [Steps() for _ in range(ranks)]
    order = math.isqrt(size_bytes // NUMBER_BYTES)
    columns = shares(order, ranks)
    column_bytes = [NUMBER_BYTES * order * count for count in columns]
    if problem == "mult":
        deal(every, column_bytes)
        broadcast(every, size_bytes)
    else:
        _factorize(every, order, min(block, order), unit_us)
    if problem != "lu":
        # A right side takes n^2 in the product, and so it does in both triangular solutions.
        compute(every, [count * order * order for count in columns], unit_us)
        collect(every, column_bytes)
    return Pattern([steps.program for steps in every])


def _factorize(every: list[Steps], order: int, block: int, unit_us: float) -> None:
    """Give the ranks blocks of columns in turn; each is factored, broadcast, and then used."""
    ranks = len(every)
    widths = [min(block, order - first) for first in range(0, order, block)]
    for number, width in enumerate(widths):
        if owner := number % ranks:
            every[0].send(owner, NUMBER_BYTES * order * width)
            every[owner].receive(0)
    left = [sum(widths[rank::ranks]) for rank in range(ranks)]
    below = order
    for number, width in enumerate(widths):
        owner = number % ranks
        every[owner].compute((below * width**2 / 2 - width**3 / 6) * unit_us)
        broadcast(every, NUMBER_BYTES * order * width, owner)
        broadcast(every, PIVOT_BYTES * width, owner)
        below -= width
        left[owner] -= width
        compute(every, [count * (width**2 / 2 + below * width) for count in left], unit_us)
