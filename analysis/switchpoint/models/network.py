"""What the simulator asks of a network: the costs of a message, shared links, shared cores."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Cost:
    """What one message costs, in microseconds.

    The terms are those of LogGP (Alexandrov, Ionescu, Schauser, Scheiman 1995): its o or g, then G
    for each byte, then L.

    Attributes
    ----------
    busy_us : float
        How long the sender is busy before the bytes are on their way, and the receiver with each
        message that arrives.
    bytes_us : float
        How long the bytes take on a path without other messages.
    queued_bytes_us : float
        The same if the message follows another one of its sender at once.
    latency_us : float
        From when the last byte was sent until the message is received.
    rendezvous : bool
        Whether the message waits for its receiver, and the sender for the bytes.
    returns_us : float or None
        After which time the call that sends returns, PLogP's os(m) (Kielmann, Bal, Verstoep 2000).
        None: not measured; then a rendezvous takes its bytes, any other message `busy_us`.
    shares : bool
        Whether messages of one sender to several receivers share its link; otherwise each one
        follows the one before.
    """

    busy_us: float
    bytes_us: float
    queued_bytes_us: float
    latency_us: float
    rendezvous: bool = False
    returns_us: float | None = None
    shares: bool = False


class Network(Protocol):
    """Where the ranks are, and what messages between them cost."""

    def cost(self, sender: int, receiver: int, size_bytes: int) -> Cost:
        """Return the cost of a message."""

    def path(self, sender: int, receiver: int) -> Mapping[Hashable, float]:
        """Return what the message shares with others, and how many each serves at full speed."""

    def way(self, sender: int, receiver: int) -> Hashable:
        """Return what distinguishes ways on which messages of one sender pass independently."""

    def cores(self, rank: int) -> tuple[Hashable, float]:
        """Return the machine of a rank, and how many cores the ranks of the machine share."""
