"""The algorithms of MPI libraries for an all-to-all (`MPI_Alltoall`)."""

from __future__ import annotations

from switchpoint.models.patterns.pattern import Pattern, Steps

MODES = ["linear", "pairwise", "bruck"]


def library_exchange(mode: str, ranks: int, size_bytes: int) -> Pattern:
    """Describe a library's exchange of a message between each two ranks.

    The copy of a rank's own message, and Bruck's copies in memory, take no time here.

    Parameters
    ----------
    mode
        `linear` (all at once), `pairwise` (one partner at a time), or `bruck` (log2 p messages,
        each with the data of about half of the ranks).
    ranks, size_bytes
        p, and the bytes that each rank has for each other rank.
    """
    every = [Steps() for _ in range(ranks)]
    for rank, steps in enumerate(every):
        if mode == "linear":
            _all_at_once(steps, rank, ranks, size_bytes)
        elif mode == "pairwise":
            for distance in range(1, ranks):
                _swap(steps, rank, ranks, distance, size_bytes)
        else:
            _bruck(steps, rank, ranks, size_bytes)
    return Pattern([steps.program for steps in every])


def _all_at_once(steps: Steps, rank: int, ranks: int, size_bytes: int) -> None:
    """Post all receives, then all sends in the opposite direction, and wait for all."""
    coming = [steps.start_receive((rank + distance) % ranks) for distance in range(1, ranks)]
    going = [
        steps.start_send((rank - distance) % ranks, size_bytes) for distance in range(1, ranks)
    ]
    steps.wait(*coming, *going)


def _swap(steps: Steps, rank: int, ranks: int, distance: int, size_bytes: int) -> None:
    """Send to the rank that is `distance` further, and receive from the one that is before."""
    coming = steps.start_receive((rank - distance) % ranks)
    going = steps.start_send((rank + distance) % ranks, size_bytes)
    steps.wait(coming, going)


def _bruck(steps: Steps, rank: int, ranks: int, size_bytes: int) -> None:
    """Pass on in each step the messages whose number has the step's bit (Bruck et al. 1997)."""
    distance = 1
    while distance < ranks:
        messages = sum(1 for number in range(1, ranks) if number & distance)
        _swap(steps, rank, ranks, distance, messages * size_bytes)
        distance *= 2
