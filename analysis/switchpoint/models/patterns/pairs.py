"""Messages between two ranks, as in src/patterns/round_trips.c and streams.c."""

from __future__ import annotations

from switchpoint.models.patterns.pattern import Pattern, Steps


def ping_pong(size_bytes: int) -> Pattern:
    """Send a message there and back; the time is half of the round trip."""
    return Pattern(_round_trip(size_bytes).programs, ends_at_root=True, parts=2)


def echo(size_bytes: int) -> Pattern:
    """Send a message there and back; the time is the round trip (study 004)."""
    return _round_trip(size_bytes)


def exchange(size_bytes: int) -> Pattern:
    """Send a message each way at once, as MPI_Sendrecv; the time is half of the exchange."""
    ranks = [Steps(), Steps()]
    for rank, steps in enumerate(ranks):
        coming, going = steps.start_receive(1 - rank), steps.start_send(1 - rank, size_bytes)
        steps.wait(coming, going)
    return Pattern([steps.program for steps in ranks], ends_at_root=True, parts=2)


def stream(size_bytes: int, window: int) -> Pattern:
    """Send a window of messages, then an empty reply; the time is that per message."""
    leader, other = Steps(), Steps()
    leader.wait(*[leader.start_send(1, size_bytes) for _ in range(window)])
    leader.receive(1)
    other.wait(*[other.start_receive(0) for _ in range(window)])
    other.send(0, 0)
    return Pattern([leader.program, other.program], ends_at_root=True, parts=window)


def _round_trip(size_bytes: int) -> Pattern:
    leader, other = Steps(), Steps()
    leader.send(1, size_bytes)
    leader.receive(1)
    other.receive(0)
    other.send(0, size_bytes)
    return Pattern([leader.program, other.program], ends_at_root=True)
