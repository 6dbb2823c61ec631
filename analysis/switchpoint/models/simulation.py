"""Simulates ranks that compute, send and receive, over a network with given costs.

Ranks share cores, and messages share links, in equal parts. A rank sends one message at a time, or
one to each receiver where such messages share its link.
"""

from __future__ import annotations

import heapq
import itertools
from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field

from switchpoint.models.network import Cost, Network
from switchpoint.models.operations import (
    Compute,
    Operation,
    Program,
    Receive,
    Send,
    StartReceive,
    StartSend,
)
from switchpoint.models.sharing import Sharing


@dataclass(frozen=True)
class Span:
    """One thing that a rank did: `phase` is compute, send, wait or receive."""

    rank: int
    phase: str
    start_us: float
    end_us: float


@dataclass(frozen=True)
class Outcome:
    """When each rank ended, in microseconds from the common start, and what it did until then."""

    end_us: list[float]
    spans: list[Span]


def simulate(programs: Sequence[Program], network: Network) -> Outcome:
    """Run one program per rank, all of which start at 0.

    Raises
    ------
    ValueError
        If ranks wait for each other for ever.
    """
    return _Simulation(programs, network).run()


@dataclass
class _Request:
    """A send or a receive that was started, and what happens when it is done."""

    done: bool = False
    then: Callable[[], None] | None = None
    message: _Message | None = None


@dataclass
class _Message:
    number: int
    sender: int
    receiver: int
    cost: Cost
    sent: _Request = field(default_factory=_Request)
    received: _Request | None = None
    begun_us: float = 0.0
    arrived: bool = False


@dataclass
class _Port:
    """The messages that a rank may send one way now, in the order of its program.

    `flying` are the receivers to which bytes are on their way, `held` what waits for one of them.
    """

    ready: list[tuple[int, _Message]] = field(default_factory=list)
    held: dict[int, list[tuple[int, _Message]]] = field(default_factory=dict)
    flying: set[int] = field(default_factory=set)
    starting: bool = False
    shared: bool = False
    freed_us: float = -1.0

    def next(self) -> _Message | None:
        """Take the next message that may start."""
        while self.ready and not self.starting:
            message = self.ready[0][1]
            if self.flying and not (self.shared and message.cost.shares):
                return None
            entry = heapq.heappop(self.ready)
            if message.receiver not in self.flying:
                self.flying.add(message.receiver)
                self.shared = message.cost.shares
                return message
            self.held.setdefault(message.receiver, []).append(entry)
        return None

    def end(self, receiver: int, now_us: float) -> None:
        """Let the messages to a receiver follow the one whose last byte was sent."""
        self.flying.remove(receiver)
        self.freed_us = now_us
        for entry in self.held.pop(receiver, []):
            heapq.heappush(self.ready, entry)


@dataclass
class _Rank:
    program: Program
    next: int = 0
    started: list[_Request] = field(default_factory=list)
    ports: dict[Hashable, _Port] = field(default_factory=lambda: defaultdict(_Port))
    received_us: float = 0.0
    end_us: float | None = None


class _Simulation:
    """The state at `now_us`, and the events after it."""

    def __init__(self, programs: Sequence[Program], network: Network) -> None:
        self.network = network
        self.now_us = 0.0
        self.events: list[tuple[float, int, Callable[[], None]]] = []
        self.numbers = itertools.count()  # events at the same time stay in order
        self.sharing = Sharing(self.after, lambda: self.now_us)
        self.ranks = [_Rank(program) for program in programs]
        self.sends: dict[tuple[int, int], deque[_Message]] = {}
        self.receives: dict[tuple[int, int], deque[_Request]] = {}
        self.spans: list[Span] = []

    def run(self) -> Outcome:
        for number in range(len(self.ranks)):
            self.advance(number)
        while self.events:
            self.now_us, _, happen = heapq.heappop(self.events)
            happen()
        ends = [rank.end_us for rank in self.ranks if rank.end_us is not None]
        if len(ends) < len(self.ranks):
            stuck = [str(number) for number, rank in enumerate(self.ranks) if rank.end_us is None]
            raise ValueError(f"ranks {', '.join(stuck)} wait for ever")
        return Outcome(ends, self.spans)

    def after(self, delay_us: float, happen: Callable[[], None]) -> None:
        heapq.heappush(self.events, (self.now_us + delay_us, next(self.numbers), happen))

    # Ranks.

    def advance(self, number: int) -> None:
        """Let a rank continue until it has to wait."""
        rank = self.ranks[number]
        while rank.next < len(rank.program):
            operation = rank.program[rank.next]
            rank.next += 1
            if self._blocks(number, operation):
                return
        rank.end_us = self.now_us

    def _blocks(self, number: int, operation: Operation) -> bool:
        """Start an operation; return whether the rank waits for it and continues later."""
        rank, since_us = self.ranks[number], self.now_us
        if isinstance(operation, Compute):
            machine, cores = self.network.cores(number)
            self.sharing.start(
                operation.us, {machine: cores}, lambda: self._resume(number, "compute", since_us)
            )
            return True
        if isinstance(operation, StartSend):
            rank.started.append(self._send(number, operation.to, operation.size_bytes))
            return False
        if isinstance(operation, StartReceive):
            rank.started.append(self._receive(operation.source, number))
            return False
        if isinstance(operation, Send):
            request = self._send(number, operation.to, operation.size_bytes)
            return _wait_for([request], lambda: self._resume(number, "send", since_us))
        if isinstance(operation, Receive):
            request = self._receive(operation.source, number)
            return _wait_for([request], lambda: self._received(number, request, since_us))
        pending = [rank.started[index] for index in operation.started]
        return _wait_for(pending, lambda: self._resume(number, "wait", since_us))

    def _received(self, number: int, request: _Request, since_us: float) -> None:
        """Continue after a receive. It is a wait until the message is there or is announced."""
        message = request.message
        announced = message is not None and message.cost.rendezvous
        there_us = max(message.begun_us, since_us) if message and announced else self.now_us
        self._note(number, "wait", since_us, there_us)
        self._resume(number, "receive", there_us)

    def _resume(self, number: int, phase: str, since_us: float) -> None:
        self._note(number, phase, since_us, self.now_us)
        self.advance(number)

    def _note(self, number: int, phase: str, start_us: float, end_us: float) -> None:
        if end_us > start_us:
            self.spans.append(Span(number, phase, start_us, end_us))

    # Messages.

    def _send(self, sender: int, receiver: int, size_bytes: int) -> _Request:
        """Match a send with the oldest receive that waits for it, or let it wait for one."""
        cost = self.network.cost(sender, receiver, size_bytes)
        message = _Message(next(self.numbers), sender, receiver, cost)
        if waiting := self.receives.get((sender, receiver)):
            _match(message, waiting.popleft())
        else:
            self.sends.setdefault((sender, receiver), deque()).append(message)
        if message.received is not None or not message.cost.rendezvous:
            self._ready(message)
        if cost.returns_us is not None and not cost.rendezvous:
            self.after(cost.returns_us, lambda: _end(message.sent))
        return message.sent

    def _receive(self, sender: int, receiver: int) -> _Request:
        """Match a receive with the oldest send that waits for it, or let it wait for one."""
        request = _Request()
        waiting = self.sends.get((sender, receiver))
        if not waiting:
            self.receives.setdefault((sender, receiver), deque()).append(request)
            return request
        message = waiting.popleft()
        _match(message, request)
        request.done = message.arrived
        if message.cost.rendezvous:
            self._ready(message)
        return request

    def _ready(self, message: _Message) -> None:
        way = self.network.way(message.sender, message.receiver)
        port = self.ranks[message.sender].ports[way]
        heapq.heappush(port.ready, (message.number, message))
        # Later, since receives that are posted now may make earlier messages ready.
        self.after(0.0, lambda: self._send_next(port))

    def _send_next(self, port: _Port) -> None:
        """Put a rank's next message on its way, if none is before it."""
        queued = bool(port.flying) or port.freed_us == self.now_us
        message = port.next()
        if message is None:
            return
        cost, message.begun_us = message.cost, self.now_us
        port.starting = True
        if cost.returns_us is not None and cost.rendezvous:
            self.after(cost.returns_us, lambda: _end(message.sent))

        def start_bytes() -> None:
            port.starting = False
            if cost.returns_us is None and not cost.rendezvous:
                _end(message.sent)
            links = self.network.path(message.sender, message.receiver)
            alone_us = cost.queued_bytes_us if queued else cost.bytes_us
            self.sharing.start(alone_us, links, end_bytes)
            self._send_next(port)

        def end_bytes() -> None:
            port.end(message.receiver, self.now_us)
            self.after(cost.latency_us, lambda: self._arrive(message))
            if cost.returns_us is None:
                _end(message.sent)
            self.after(0.0, lambda: self._send_next(port))

        self.after(cost.busy_us, start_bytes)

    def _arrive(self, message: _Message) -> None:
        """Let the receiver take messages one after another."""
        receiver = self.ranks[message.receiver]
        receiver.received_us = max(self.now_us, receiver.received_us + message.cost.busy_us)

        def take() -> None:
            message.arrived = True
            if message.received is not None:
                _end(message.received)

        self.after(receiver.received_us - self.now_us, take)


def _match(message: _Message, request: _Request) -> None:
    message.received, request.message = request, message


def _wait_for(pending: list[_Request], then: Callable[[], None]) -> bool:
    """Call `then` when all are done; return False if they are already."""
    missing = [request for request in pending if not request.done]
    left = len(missing)

    def one_ended() -> None:
        nonlocal left
        left -= 1
        if left == 0:
            then()

    for request in missing:
        request.then = one_ended
    return bool(missing)


def _end(request: _Request) -> None:
    if not request.done:
        request.done = True
        if request.then is not None:
            request.then()
