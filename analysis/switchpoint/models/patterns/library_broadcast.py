"""The algorithms with which MPI libraries broadcast from rank 0.

Open MPI's (`coll_tuned`) pass segments down a tree. The last two, which MPICH has too, scatter the
message and gather its parts everywhere.
"""

from __future__ import annotations

from collections.abc import Callable

from switchpoint.models.patterns.library_trees import (
    binary_by_levels,
    binomial_by_high_bits,
    chains,
    knomial,
)
from switchpoint.models.patterns.pattern import Pattern, Steps
from switchpoint.models.patterns.trees import (
    Children,
    binomial,
    binomial_end,
    chain,
    parents_of,
    repeated,
)

#: By the name of the algorithm; the second argument is the number of chains.
_TREES: dict[str, Callable[[int, int], Children]] = {
    "linear": lambda ranks, _: repeated(ranks),
    "chain": chains,
    "pipeline": lambda ranks, _: chain(ranks),
    "binary": lambda ranks, _: binary_by_levels(ranks),
    "binomial": lambda ranks, _: binomial_by_high_bits(ranks),
    "knomial": lambda ranks, _: knomial(ranks),
}

_SCATTERED = {"scatter_allgather", "scatter_allgather_ring"}
MODES = [*_TREES, *sorted(_SCATTERED)]


def library_broadcast(
    mode: str, ranks: int, size_bytes: int, segment_bytes: int = 0, fanout: int = 1
) -> Pattern:
    """Describe a library's broadcast; the time ends with the last rank.

    Parameters
    ----------
    mode
        One of `MODES`.
    ranks, size_bytes
        The group with its root, and the message.
    segment_bytes
        The largest segment that a tree passes on; 0: the whole message.
    fanout
        How many chains `chain` has.
    """
    every = [Steps() for _ in range(ranks)]
    if mode in _SCATTERED and size_bytes >= ranks:
        parts = _Parts(size_bytes, ranks)
        _scatter(every, parts)
        if mode == "scatter_allgather_ring":
            _gather_in_ring(every, parts)
        else:
            _gather_by_doubling(every, parts)
    else:
        children = _TREES["linear" if mode in _SCATTERED else mode](ranks, fanout)
        _pass_on(every, children, _segments(size_bytes, segment_bytes))
    return Pattern([steps.program for steps in every])


def _segments(size_bytes: int, segment_bytes: int) -> list[int]:
    """Return the lengths of the segments."""
    if not 0 < segment_bytes < size_bytes:
        return [size_bytes]
    whole, rest = divmod(size_bytes, segment_bytes)
    return [segment_bytes] * whole + [rest] * (rest > 0)


def _pass_on(every: list[Steps], children: Children, lengths: list[int]) -> None:
    """Pass each segment to all children, and the next one when those sends are done.

    The receive of the next segment is posted before the wait for this one.
    """
    parents = parents_of(children)
    for rank, steps in enumerate(every):
        coming = steps.start_receive(parents[rank]) if rank else None
        for number, length in enumerate(lengths):
            more = number + 1 < len(lengths)
            following = steps.start_receive(parents[rank]) if rank and more else None
            steps.wait(coming)
            steps.wait(*[steps.start_send(child, length) for child in children[rank]])
            coming = following


class _Parts:
    """A message in equal parts, one for each rank; the last ones may be shorter or empty."""

    def __init__(self, size_bytes: int, ranks: int) -> None:
        self.size_bytes, self.each = size_bytes, -(-size_bytes // ranks)

    def between(self, first: int, end: int) -> int:
        """Return the bytes of the parts of ranks from `first` to before `end`."""
        return min(self.size_bytes, end * self.each) - min(self.size_bytes, first * self.each)


def _scatter(every: list[Steps], parts: _Parts) -> None:
    """Send each subtree of a binomial tree the parts of its ranks, unless they are empty."""
    ranks = len(every)
    children = binomial(ranks)
    parents = parents_of(children)
    for rank, steps in enumerate(every):
        end = binomial_end(rank, ranks)
        if rank and parts.between(rank, end):
            steps.receive(parents[rank])
        for child in children[rank]:
            if length := parts.between(child, end):
                steps.send(child, length)
            end = child


def _gather_in_ring(every: list[Steps], parts: _Parts) -> None:
    """Send the newest part to the right and receive one from the left, until all have all."""
    ranks = len(every)
    for rank, steps in enumerate(every):
        for step in range(ranks - 1):
            part = (rank - step) % ranks
            coming = steps.start_receive((rank - 1) % ranks)
            going = steps.start_send((rank + 1) % ranks, parts.between(part, part + 1))
            steps.wait(coming, going)


def _gather_by_doubling(every: list[Steps], parts: _Parts) -> None:
    """Exchange all parts of a group of ranks with those of its neighbour; the groups double.

    Ranks whose partner does not exist get the parts afterwards from those that have them.
    """
    ranks = len(every)
    width = 1
    while width < ranks:
        for rank, steps in enumerate(every):
            partner = rank ^ width
            if partner < ranks:
                own = rank // width * width
                coming = steps.start_receive(partner)
                going = steps.start_send(partner, parts.between(own, min(own + width, ranks)))
                steps.wait(coming, going)
        for first in range(0, ranks, 2 * width):
            _catch_up(every, parts, first, width)
        width *= 2


def _catch_up(every: list[Steps], parts: _Parts, first: int, width: int) -> None:
    """Pass the upper half's parts down a tree to ranks of the lower half without a partner."""
    ranks = len(every)
    upper = ranks - (first + width)
    if not 0 < upper < width:
        return
    length = parts.between(first + width, ranks)
    step = width // 2
    while step:
        for rank in range(first, first + width):
            root = first + (rank - first) // (2 * step) * (2 * step)
            partner = rank + step
            has_it = rank < root + upper
            if rank & step == 0 and has_it and partner >= root + upper:
                every[rank].send(partner, length)
                every[partner].receive(rank)
        step //= 2
