"""What a rank does in a communication pattern: a program is a list of these operations.

They are MPI's own calls. Messages from one rank to another match in the order in which they are
sent, so there are no tags.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Compute:
    """Work that takes `us` on a core of its own."""

    us: float


@dataclass(frozen=True)
class Send:
    """A blocking send, as MPI_Send."""

    to: int
    size_bytes: int


@dataclass(frozen=True)
class Receive:
    """A blocking receive, as MPI_Recv."""

    source: int


@dataclass(frozen=True)
class StartSend:
    """A send that does not block, as MPI_Isend."""

    to: int
    size_bytes: int


@dataclass(frozen=True)
class StartReceive:
    """A receive that does not block, as MPI_Irecv."""

    source: int


@dataclass(frozen=True)
class Wait:
    """Wait for a rank's own started operations, as MPI_Waitall.

    Attributes
    ----------
    started : tuple of int
        Their numbers: a rank's `StartSend` and `StartReceive` count together, from 0.
    """

    started: tuple[int, ...]


Operation = Compute | Send | Receive | StartSend | StartReceive | Wait
Program = Sequence[Operation]
