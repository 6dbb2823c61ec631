"""A divided task, then a message to the right neighbour, as in src/kernels/ring.c (study 002)."""

from __future__ import annotations

from switchpoint.models.patterns.pattern import Pattern, Steps

#: A rank may begin its next step while others end theirs, so that steps are simulated together.
STEPS = 4


def ring(
    mode: str, ranks: int, size_bytes: int, grain_us: float, serial_percent: float = 0
) -> Pattern:
    """Describe the steps of the ring; the time is that of one step.

    Parameters
    ----------
    mode
        `alternate` (half send while half receive), `sendrecv`, or `serial`: rank 0 alone.
    ranks, size_bytes
        np, and the size of each message.
    grain_us
        T: the time of the whole task on one rank.
    serial_percent
        s: the part of T that only rank 0 can do.
    """
    serial = serial_percent / 100
    every = [Steps() for _ in range(ranks)]
    for rank, steps in enumerate(every):
        share = (1 - serial) / ranks + (serial if rank == 0 else 0)
        for _ in range(STEPS):
            if mode == "serial":
                steps.compute(grain_us if rank == 0 else 0)
                continue
            steps.compute(share * grain_us)
            _exchange(steps, mode, rank, ranks, size_bytes)
    return Pattern([steps.program for steps in every], parts=STEPS)


def _exchange(steps: Steps, mode: str, rank: int, ranks: int, size_bytes: int) -> None:
    right, left = (rank + 1) % ranks, (rank - 1) % ranks
    if mode == "sendrecv":
        coming, going = steps.start_receive(left), steps.start_send(right, size_bytes)
        steps.wait(coming, going)
        return
    for turn in range(2):
        if rank % 2 == turn:
            steps.send(right, size_bytes)
        else:
            steps.receive(left)
