"""Broadcasts from rank 0 to all others, as in src/kernels/broadcast.c (study 004)."""

from __future__ import annotations

from switchpoint.models.patterns.pattern import Pattern, Steps
from switchpoint.models.patterns.trees import (
    TREES,
    Children,
    binomial,
    binomial_end,
    chain,
    parents_of,
)

ACKNOWLEDGEMENT_BYTES = 4
_ACKNOWLEDGED = "_ack"

MODES = [
    *TREES,
    *(mode + _ACKNOWLEDGED for mode in TREES),
    *("pipelined", "pipelined_ack", "scatter_allgather"),
]


def broadcast(mode: str, ranks: int, size_bytes: int, segment_bytes: int = 8192) -> Pattern:
    """Describe a broadcast; the time ends with the last rank, or at the root if acknowledged.

    Parameters
    ----------
    mode
        One of `MODES`.
    ranks
        Members of the group, with the root.
    size_bytes
        The message.
    segment_bytes
        Segments of the pipelined chain.
    """
    every = [Steps() for _ in range(ranks)]
    acknowledged = mode.endswith(_ACKNOWLEDGED)
    name = mode.removesuffix(_ACKNOWLEDGED)
    if name == "scatter_allgather":
        _scatter(every, size_bytes)
        _allgather(every, size_bytes)
        return Pattern([steps.program for steps in every])
    if name == "pipelined":
        children = chain(ranks)
        _send_segments(every, size_bytes, segment_bytes)
    else:
        children = TREES[name](ranks)
        _send_down(every, children, size_bytes)
    if acknowledged:
        _acknowledge(every, children)
    return Pattern([steps.program for steps in every], ends_at_root=acknowledged)


def _send_down(every: list[Steps], children: Children, size_bytes: int) -> None:
    """Send the whole message to each child in turn."""
    parents = parents_of(children)
    for rank, steps in enumerate(every):
        if rank:
            steps.receive(parents[rank])
        for child in children[rank]:
            steps.send(child, size_bytes)


def _acknowledge(every: list[Steps], children: Children) -> None:
    """Acknowledge to the parent once all children have."""
    parents = parents_of(children)
    for rank, steps in enumerate(every):
        for child in children[rank]:
            steps.receive(child)
        if rank:
            steps.send(parents[rank], ACKNOWLEDGEMENT_BYTES)


def _send_segments(every: list[Steps], size_bytes: int, segment_bytes: int) -> None:
    """Pass each segment on as soon as it is there; the receive of the next one is posted then."""
    offsets = range(0, max(size_bytes, 1), segment_bytes)
    lengths = [min(segment_bytes, size_bytes - offset) for offset in offsets]
    for rank, steps in enumerate(every):
        coming = steps.start_receive(rank - 1) if rank else None
        passing = None
        for number, length in enumerate(lengths):
            more = number + 1 < len(lengths)
            following = steps.start_receive(rank - 1) if rank and more else None
            steps.wait(coming)
            steps.wait(passing)
            passing = steps.start_send(rank + 1, length) if rank + 1 < len(every) else None
            coming = following
        steps.wait(passing)


def _part_bytes(size_bytes: int, ranks: int, first: int, end: int) -> int:
    """Return the bytes of the parts of all ranks from `first` to before `end`."""
    return size_bytes * end // ranks - size_bytes * first // ranks


def _scatter(every: list[Steps], size_bytes: int) -> None:
    """Send each subtree the parts of its ranks."""
    ranks = len(every)
    children = binomial(ranks)
    parents = parents_of(children)
    for rank, steps in enumerate(every):
        if rank:
            steps.receive(parents[rank])
        end = binomial_end(rank, ranks)
        for child in children[rank]:
            steps.send(child, _part_bytes(size_bytes, ranks, child, end))
            end = child


def _allgather(every: list[Steps], size_bytes: int) -> None:
    """Pass each part around the ring; the root has all parts and only sends."""
    ranks = len(every)
    for rank, steps in enumerate(every):
        for step in range(ranks - 1):
            leaving = (rank - step) % ranks
            coming = steps.start_receive(rank - 1) if rank else None
            going = None
            if rank + 1 < ranks:
                going = steps.start_send(
                    rank + 1, _part_bytes(size_bytes, ranks, leaving, leaving + 1)
                )
            steps.wait(coming, going)
