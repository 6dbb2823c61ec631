"""All-to-alls, as in src/kernels/alltoall.c (study 003).

The schedules are those of src/patterns/exchange_schedule.c. The order of packets in both shuffles,
and the groups, are our reconstruction.
"""

from __future__ import annotations

from collections.abc import Iterator

from switchpoint.models.patterns.pattern import Pattern, Steps

_WINDOWED = "_windowed"

MODES = [
    *("shift", "pairwise", "group_shuffle", "synchronous_shuffle"),
    *("group_shuffle_windowed", "synchronous_shuffle_windowed"),
]


def complete_exchange(
    mode: str,
    ranks: int,
    size_bytes: int,
    packet_bytes: int = 65536,
    group: int = 2,
    send_window: int = 0,
) -> Pattern:
    """Describe an exchange of a message between each two ranks; it ends with the last rank.

    Parameters
    ----------
    mode
        One of `MODES`.
    ranks, size_bytes
        p, and M: the bytes that each rank has for each other rank.
    packet_bytes
        b: the largest packet.
    group
        Ranks in a group of the group shuffles.
    send_window
        Packets that a rank has in flight in windowed modes; 0: one for each other rank.
    """
    packets = max(-(-size_bytes // packet_bytes), 1)
    messages = (ranks - 1) * packets
    schedule = mode.removesuffix(_WINDOWED)
    window = (send_window or ranks - 1) if mode.endswith(_WINDOWED) else messages
    stage = packets if schedule in ("shift", "pairwise") else messages
    programs = []
    for rank in range(ranks):
        steps = Steps()
        receives = [
            steps.start_receive(peer)
            for peer, _ in slots(schedule, ranks, packets, group, rank, direction=-1)
        ]
        sends: list[int] = []
        for peer, packet in slots(schedule, ranks, packets, group, rank):
            if len(sends) >= window:
                steps.wait(sends[len(sends) - window])
            length = min(packet_bytes, size_bytes - packet * packet_bytes)
            sends.append(steps.start_send(peer, length))
            if len(sends) % stage == 0:
                steps.wait(*sends[-stage:])
                steps.wait(*receives[len(sends) - stage : len(sends)])
        programs.append(steps.program)
    return Pattern(list(programs))


def slots(
    schedule: str, ranks: int, packets: int, group: int, rank: int, direction: int = 1
) -> Iterator[tuple[int, int]]:
    """Yield the peer and the packet of each slot of a rank, without its idle slots.

    Parameters
    ----------
    schedule
        `shift`, `pairwise`, `synchronous_shuffle` or `group_shuffle`.
    ranks, packets, group
        How many ranks, packets for each pair, and ranks in a group.
    rank
        The rank.
    direction
        1 for the peers to which it sends, -1 for those from which it receives.
    """
    if schedule == "group_shuffle":
        yield from _in_groups(ranks, packets, group, rank, direction)
        return
    by_message = [(distance, q) for distance in range(1, ranks) for q in range(packets)]
    by_packet = [(distance, q) for q in range(packets) for distance in range(1, ranks)]
    for distance, packet in by_packet if schedule == "synchronous_shuffle" else by_message:
        shifted = (rank + direction * distance) % ranks
        yield (rank ^ distance if schedule == "pairwise" else shifted), packet


def _in_groups(
    ranks: int, packets: int, group: int, rank: int, direction: int
) -> Iterator[tuple[int, int]]:
    """Yield the slots of the group shuffle: a packet to each of a group, group after group."""
    groups = ranks // group
    for stage in range(groups):
        first = (rank // group + direction * stage) % groups * group
        for packet in range(packets):
            for distance in range(group):
                peer = first + (rank % group + direction * distance) % group
                if peer != rank:
                    yield peer, packet
