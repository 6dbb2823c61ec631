"""The definition of a pattern, and a way to write a rank's program."""

from __future__ import annotations

from dataclasses import dataclass, field

from switchpoint.models.operations import (
    Compute,
    Operation,
    Program,
    Receive,
    Send,
    StartReceive,
    StartSend,
    Wait,
)


@dataclass(frozen=True)
class Pattern:
    """The programs of all ranks, and what the kernel's `time_us` means.

    Attributes
    ----------
    programs : list of Program
        One for each rank.
    ends_at_root : bool
        Whether rank 0's end counts; otherwise that of the slowest rank.
    parts : int
        By which the time is divided: messages of a round trip, repetitions of a loop.
    """

    programs: list[Program]
    ends_at_root: bool = False
    parts: int = 1


@dataclass
class Steps:
    """Writes the program of one rank, and counts what it starts."""

    program: list[Operation] = field(default_factory=list)
    started: int = 0

    def compute(self, us: float) -> None:
        """Compute for a time, if it is not 0."""
        if us > 0:
            self.program.append(Compute(us))

    def send(self, to: int, size_bytes: int) -> None:
        """Send, and wait until the buffer is free."""
        self.program.append(Send(to, size_bytes))

    def receive(self, source: int) -> None:
        """Receive, and wait for the message."""
        self.program.append(Receive(source))

    def start_send(self, to: int, size_bytes: int) -> int:
        """Start a send, and return its number for `wait`."""
        self.program.append(StartSend(to, size_bytes))
        self.started += 1
        return self.started - 1

    def start_receive(self, source: int) -> int:
        """Start a receive, and return its number for `wait`."""
        self.program.append(StartReceive(source))
        self.started += 1
        return self.started - 1

    def wait(self, *started: int | None) -> None:
        """Wait for what was started; None counts as done, as MPI_REQUEST_NULL."""
        numbers = tuple(number for number in started if number is not None)
        if numbers:
            self.program.append(Wait(numbers))
