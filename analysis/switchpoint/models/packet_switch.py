"""Simulates all-to-alls packet by packet through a switch: head-of-line blocking (study 003).

Time is in slots, in which each link carries one packet. A switch has a first-in-first-out buffer at
each input. In each slot an output takes a packet from one of the buffers whose first packet is for
it; the other buffers wait, and so does everything behind their first packet. A switch with buffers
at its outputs takes every packet at once. The packet's order within a schedule is that of the
kernel `alltoall`. Saturated with random packets, buffers at the inputs reach 75 % of the links with
two ports, 65.5 % with four and 2 - sqrt(2) = 58.6 % with many (Karol, Hluchyj and Morgan 1987).
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

#: How long a node pauses that its operating system interrupts.
PAUSE_SLOTS = 8


@dataclass
class Switch:
    """A switch of some ports.

    Attributes
    ----------
    ports : int
        Inputs, and outputs.
    buffered_inputs : bool
        Whether packets wait at the inputs, in place of the outputs.
    depth : int
        Packets that an input buffer holds.
    """

    ports: int
    buffered_inputs: bool = True
    depth: int = 8
    _inputs: list[deque[int]] = field(init=False)
    _waiting: list[int] = field(init=False)
    _turn: int = 0

    def __post_init__(self) -> None:
        self._inputs = [deque() for _ in range(self.ports)]
        self._waiting = [0] * self.ports

    def takes(self, port: int) -> bool:
        """Whether an input has room for a packet."""
        return not self.buffered_inputs or len(self._inputs[port]) < self.depth

    def put(self, port: int, output: int) -> None:
        """Receive a packet at an input."""
        if self.buffered_inputs:
            self._inputs[port].append(output)
        else:
            self._waiting[output] += 1

    def deliver(self) -> int:
        """Send a packet on each output that has one, and return how many these were."""
        if not self.buffered_inputs:
            sent = sum(1 for count in self._waiting if count)
            self._waiting = [max(count - 1, 0) for count in self._waiting]
            return sent
        busy: set[int] = set()
        self._turn += 1
        for place in range(self.ports):  # no input always has precedence
            queue = self._inputs[(place + self._turn) % self.ports]
            if queue and queue[0] not in busy:
                busy.add(queue.popleft())
        return len(busy)


def saturated_throughput(ports: int, slots: int = 20_000, seed: int = 1) -> float:
    """Return the share of the links that random packets fill, with buffers at the inputs."""
    chance = random.Random(seed)  # noqa: S311 (repeatable)
    switch = Switch(ports, depth=2)
    delivered = 0
    for _ in range(slots):
        for port in range(ports):
            while switch.takes(port):
                switch.put(port, chance.randrange(ports))
        delivered += switch.deliver()
    return delivered / slots / ports


def exchange_utilisation(
    schedule: Callable[[int, int, int], Iterator[int]],
    switch: Switch,
    packets: int,
    *,
    pause: float,
    seed: int = 1,
) -> float:
    """Return U = (p - 1) K / T, the share of the links that an all-to-all of all ports fills.

    Parameters
    ----------
    schedule
        Gives the destination of each packet of a node from the node, p and K: `shuffle`, `shift`,
        or `groups_of(g)`.
    switch
        An empty one; p is the number of its ports.
    packets
        K, the packets of each message.
    pause
        The share of the packets after which a node pauses for `PAUSE_SLOTS`: nodes have no common
        clock, and their operating systems take time.
    seed
        Of the pauses.
    """
    chance = random.Random(seed)  # noqa: S311 (repeatable)
    nodes = range(switch.ports)
    lists: Sequence[deque[int]] = [deque(schedule(n, switch.ports, packets)) for n in nodes]
    idle = [0] * switch.ports
    left, slots = sum(map(len, lists)), 0
    per_node = left // switch.ports
    while left:
        for node in nodes:
            if idle[node]:
                idle[node] -= 1
            elif lists[node] and switch.takes(node):
                switch.put(node, lists[node].popleft())
                if chance.random() < pause:
                    idle[node] = PAUSE_SLOTS
        left -= switch.deliver()
        slots += 1
    return per_node / slots


def shuffle(node: int, nodes: int, packets: int) -> Iterator[int]:
    """Synchronous shuffle: a packet to each other node in turn."""
    for _ in range(packets):
        for distance in range(1, nodes):
            yield (node + distance) % nodes


def shift(node: int, nodes: int, packets: int) -> Iterator[int]:
    """Shift: all packets to one node, then to the next."""
    for distance in range(1, nodes):
        for _ in range(packets):
            yield (node + distance) % nodes


def groups_of(size: int) -> Callable[[int, int, int], Iterator[int]]:
    """Group shuffle: a packet to each node of a group in turn, group after group."""

    def schedule(node: int, nodes: int, packets: int) -> Iterator[int]:
        for stage in range(nodes // size):
            group = (node // size + stage) % (nodes // size) * size
            for _ in range(packets):
                for distance in range(size):
                    if (target := group + (node + distance) % size) != node:
                        yield target

    return schedule
