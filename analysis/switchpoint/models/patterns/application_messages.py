"""The messages of the applications, as in src/studies/collectives.c, and their work.

Each function adds steps to the programs of all ranks.
"""

from __future__ import annotations

from collections.abc import Sequence

from switchpoint.models.patterns.pattern import Steps
from switchpoint.models.patterns.trees import binomial, parents_of

#: A length that a rank announces (C's size_t), and a number (C's double).
LENGTH_BYTES = 8
NUMBER_BYTES = 8


def shares(items: int, ranks: int) -> list[int]:
    """Return how many items each rank gets: the first ranks get one more.

    >>> shares(7, 3)
    [3, 2, 2]
    """
    each, more = divmod(items, ranks)
    return [each + (rank < more) for rank in range(ranks)]


def compute(every: Sequence[Steps], units: Sequence[float], unit_us: float) -> None:
    """Let each rank compute so many units of work."""
    for steps, own in zip(every, units, strict=True):
        steps.compute(own * unit_us)


def deal(every: Sequence[Steps], bytes_of: Sequence[int]) -> None:
    """Let rank 0 send each other rank its part, one after another."""
    for rank in range(1, len(every)):
        every[0].send(rank, bytes_of[rank])
        every[rank].receive(0)


def collect(every: Sequence[Steps], bytes_of: Sequence[int]) -> None:
    """Let rank 0 receive each other rank's part, one after another."""
    for rank in range(1, len(every)):
        every[rank].send(0, bytes_of[rank])
        every[0].receive(rank)


def announce(every: Sequence[Steps]) -> None:
    """Tell rank 0 how long each other rank's part will be."""
    collect(every, [LENGTH_BYTES] * len(every))


def broadcast(every: Sequence[Steps], size_bytes: int, root: int = 0) -> None:
    """Send a message down a binomial tree, whose places are the ranks from the root on."""
    ranks = len(every)
    children = binomial(ranks)
    parents = parents_of(children)
    for place, own in enumerate(children):
        steps = every[(root + place) % ranks]
        if place:
            steps.receive((root + parents[place]) % ranks)
        for child in own:
            steps.send((root + child) % ranks, size_bytes)


def exchange(every: Sequence[Steps], bytes_of: Sequence[Sequence[int]]) -> None:
    """Let each rank send every other one its part: in each step to the next but one, and so on.

    Parameters
    ----------
    every
        The programs.
    bytes_of
        By sender and receiver.
    """
    ranks = len(every)
    for rank, steps in enumerate(every):
        for step in range(1, ranks):
            to = (rank + step) % ranks
            coming = steps.start_receive((rank - step) % ranks)
            going = steps.start_send(to, bytes_of[rank][to])
            steps.wait(coming, going)
