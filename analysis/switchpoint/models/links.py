"""What a message costs on one link, from the curves of a site model."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from switchpoint.errors import InputError
from switchpoint.models.network import Cost
from switchpoint.models.site_model import ComputeRate, Curve, Segment, Sender, SiteModel
from switchpoint.tables.units import size_text

#: Kinds of numbers to predict with: `value` is the model's own, the others are the fastest and the
#: slowest times that the repeats of the curves make likely.
BOUNDS = ("low", "value", "high")

#: A label with more digits is not a number of messages.
_MOST_DIGITS = 18

#: A line through fewer sizes fits them exactly, whatever their errors are.
_FEW_SIZES = 3


@dataclass(frozen=True)
class Place:
    """Which curves to use: those of one MPI on one placement. None: any, if there is only one."""

    placement: str
    mpi: str | None = None
    environ: str | None = None
    partition: str | None = None


@dataclass
class Link:
    """The messages between two ranks.

    Attributes
    ----------
    alone : Curve
        Single messages (`send`, or another mode of the ping-pong).
    stream, bistream : Curve or None
        Messages one after another, in one direction and in both at once.
    source : str
        The model's file, for messages.
    sender : Sender or None
        What sending costs the sender, if it was measured.
    bound : str
        One of `BOUNDS`.
    bounded_mode : str
        The curve whose times are at the bound, while the others keep their own; empty: all.
    notes : dict
        What limits a prediction, as sentences; the keys, in order.
    """

    alone: Curve
    stream: Curve | None
    bistream: Curve | None
    source: str
    sender: Sender | None = None
    bound: str = "value"
    bounded_mode: str = ""
    notes: dict[str, None] = field(default_factory=dict)
    _costs: dict[int, Cost] = field(default_factory=dict)

    def cost(self, size_bytes: int) -> Cost:
        """Return the cost of a message.

        The time of a message alone and the time per message in a stream are measured. The latency
        is their difference, as in PLogP (Kielmann, Bal, Verstoep 2000). Without a stream the
        sender counts as busy until the message is received, less the time of its bytes.
        """
        if size_bytes not in self._costs:
            self._costs[size_bytes] = self._cost(size_bytes)
        return self._costs[size_bytes]

    @property
    def knows_order(self) -> bool:
        """Whether messages to several receivers were measured."""
        return self.sender is not None and bool(
            self.sender.in_order_bytes or self.sender.shared_bytes
        )

    def both_ways(self) -> float:
        """Return how many times as much both directions together carry as one of them: 1 to 2."""
        if self.stream is None or self.bistream is None:
            return 2.0
        one_way, both = self.stream.segments[-1], self.bistream.segments[-1]
        largest = min(one_way.last_size_bytes, both.last_size_bytes)
        one_us = _time_us(self.stream, one_way, largest)
        both_us = _time_us(self.bistream, both, largest)
        return min(max(one_us / both_us, 1.0), 2.0)

    def _cost(self, size_bytes: int) -> Cost:
        line, alone_us = self._time(self.alone, size_bytes)
        bytes_us = min(line.per_byte_us.value * size_bytes, alone_us)
        rendezvous = self._waits(size_bytes)
        returns_us, shares = self._call(size_bytes), self._shares(size_bytes)
        if self.stream is None:
            busy_us = alone_us - bytes_us
            return Cost(busy_us, bytes_us, bytes_us, 0.0, rendezvous, returns_us, shares)
        per_byte_us, gap_us = self._gap(self.stream, size_bytes, alone_us)
        busy_us = min(max(gap_us - per_byte_us * size_bytes, 0.0), alone_us)
        if returns_us is not None:
            busy_us = min(busy_us, returns_us)
        bytes_us = min(bytes_us, alone_us - busy_us)
        latency_us = alone_us - busy_us - bytes_us
        return Cost(busy_us, bytes_us, gap_us - busy_us, latency_us, rendezvous, returns_us, shares)

    def _call(self, size_bytes: int) -> float | None:
        """Return after which time a call that sends returns: on the line between two sizes."""
        calls = self.sender.calls if self.sender else []
        if not calls:
            return None
        sizes, times = [one.size_bytes for one in calls], [one.time_us for one in calls]
        if size_bytes > sizes[-1]:  # as many times as many bytes
            return times[-1] * size_bytes / sizes[-1]
        return float(np.interp(size_bytes, sizes, times))

    def _shares(self, size_bytes: int) -> bool:
        """Return whether messages to several receivers share the link, as of the nearest size."""
        if self.sender is None or not self.knows_order:
            return False
        known = [(size, True) for size in self.sender.shared_bytes]
        known += [(size, False) for size in self.sender.in_order_bytes]
        return min(known, key=lambda one: abs(math.log(max(size_bytes, 1) / max(one[0], 1))))[1]

    def _gap(self, stream: Curve, size_bytes: int, alone_us: float) -> tuple[float, float]:
        """Return a stream's time per byte, and the time from one of its messages to the next.

        A window of w messages takes w gaps, then the latency of the last one and an empty reply.
        The measured time per message has a part of these: gap * (w - 1) = w * time - alone - reply.
        """
        line, time_us = self._time(stream, size_bytes)
        window = self._window(stream)
        if window < 2:
            return line.per_byte_us.value, time_us
        reply_us = max(self.alone.segments[0].start_us.value, 0.0)
        gap_us = (window * time_us - alone_us - reply_us) / (window - 1)
        return line.per_byte_us.value, min(max(gap_us, 0.0), time_us)

    def _window(self, stream: Curve) -> int:
        """Return the messages in a window of a stream; 0 if that is not known."""
        text = stream.labels.get("window_size", "0")
        if text.isdecimal() and len(text) <= _MOST_DIGITS:
            return int(text)
        self._note(
            f"{stream.mode} on {stream.placement} has windows of '{text}' messages, which is not a"
            " number; its last latency and its reply count as gaps"
        )
        return 0

    def _time(self, curve: Curve, size_bytes: int) -> tuple[Segment, float]:
        """Return the segment of a size and its line's time, moved to the bound."""
        segment = self._segment(curve, size_bytes)
        time_us = _time_us(curve, segment, size_bytes)
        bound = self.bound if self.bounded_mode in ("", curve.mode) else "value"
        if bound == "low":
            time_us *= segment.least_over_line
        elif bound == "high":
            time_us *= segment.most_over_line
        return segment, time_us

    def _segment(self, curve: Curve, size_bytes: int) -> Segment:
        name = f"{curve.mode} on {curve.placement}"
        for one in curve.not_fitted:
            if one.first_size_bytes <= size_bytes <= one.last_size_bytes:
                raise InputError(
                    self.source,
                    f"{name} has no line for {size_text(size_bytes)} ({one.reason});"
                    " measure more sizes there and fit again",
                )
        if not curve.segments:
            raise InputError(self.source, f"{name} has no segment; measure again and fit again")
        before = [one for one in curve.segments if one.first_size_bytes <= size_bytes]
        segment = before[-1] if before else curve.segments[0]
        if size_bytes > segment.last_size_bytes:
            segment = self._beyond(curve, segment, size_bytes)
        elif not before:
            self._note(
                f"{name} was measured from {size_text(segment.first_size_bytes)} on;"
                f" {size_text(size_bytes)} is extrapolated"
            )
        if few := few_repeats(name, curve):
            self._note(few)
        if segment.sizes < _FEW_SIZES:
            first, last = size_text(segment.first_size_bytes), size_text(segment.last_size_bytes)
            self._note(
                f"the line of {name} from {first} to {last} goes through {segment.sizes} sizes,"
                " which do not show its error"
            )
        return segment

    def _beyond(self, curve: Curve, segment: Segment, size_bytes: int) -> Segment:
        """Return the segment of a size after the end of one: in a boundary's bracket, or beyond."""
        name = f"{curve.mode} on {curve.placement}"
        later = [one for one in curve.segments if one.first_size_bytes > size_bytes]
        if not later:
            self._note(
                f"{name} was measured up to {size_text(segment.last_size_bytes)};"
                f" {size_text(size_bytes)} is extrapolated"
            )
            return segment
        after, eager = later[0], curve.eager_last_size_bytes
        if eager is not None and segment.last_size_bytes <= eager < after.first_size_bytes:
            return segment if size_bytes <= eager else after
        self._note(
            f"{name} has a boundary between {size_text(segment.last_size_bytes)} and"
            f" {size_text(after.first_size_bytes)}; {size_text(size_bytes)} counts as before it"
        )
        return segment

    def _waits(self, size_bytes: int) -> bool:
        eager = self.alone.eager_last_size_bytes
        return self.alone.mode == "ssend" or (eager is not None and size_bytes > eager)

    def _note(self, sentence: str) -> None:
        self.notes[sentence] = None


def _time_us(curve: Curve, segment: Segment, size_bytes: int) -> float:
    """Return a line's time, above 0.

    Below its segment a line may be negative; no message is faster than the shortest, an empty one.
    """
    time_us = segment.time_us(size_bytes)
    if size_bytes >= segment.first_size_bytes:
        return time_us
    first = curve.segments[0]
    empty_us = first.start_us.value
    return max(time_us, empty_us if empty_us > 0 else first.time_us(first.first_size_bytes))


def few_repeats(name: str, measured: Curve | ComputeRate) -> str | None:
    """Say that an interval is too narrow, because of too few launches; None if it is not."""
    if measured.repeats == 1:
        return f"{name} was measured once, which shows no scatter: its interval has no width"
    if measured.interval_over == "launches":
        return None
    launches = len(measured.runs)
    return (
        f"{name} was measured in {launches} launch{'es'[: 2 * (launches != 1)]}; its interval is"
        " over passes, which agree more than launches do"
    )


def link_of(model: SiteModel, place: Place, mode: str = "send") -> Link:
    """Return the link of a placement.

    Raises
    ------
    InputError
        If the model has no such curve, or several.
    """
    alone = curve_of(model, place, mode)
    stream, bistream = (
        curve_of(model, place, name)
        if any(curve.segments for curve in _named(model, place, name))
        else None
        for name in ("stream", "bistream")
    )
    sender = next((one for one in model.senders if _place(one) == _place(alone)), None)
    link = Link(alone, stream, bistream, model.source, sender)
    if stream is None:
        link._note(
            f"no stream was measured on {place.placement}; a sender counts as busy for the start"
            " time of each message"
        )
    return link


def _place(part: Curve | Sender) -> tuple[str | None, ...]:
    return part.partition, part.mpi, part.environ, part.placement


def curve_of(model: SiteModel, place: Place, mode: str) -> Curve:
    """Return the curve of a mode at a place: of several variants the most measured one.

    Raises
    ------
    InputError
        If there is none, or there are curves of several MPIs.
    """
    here = _named(model, place, mode)
    if not here:
        _refuse(model, place, mode)
    for field_name, option in (("mpi", "--mpi"), ("environ", "--environ"),
                               ("partition", "--partition")):  # fmt: skip
        values = sorted({str(getattr(curve, field_name)) for curve in here})
        if len(values) > 1:
            raise InputError(
                model.source,
                f"has {mode} on {place.placement} with {' and '.join(values)}; choose one with"
                f" {option}",
            )
    return min(
        here,
        key=lambda curve: (not curve.segments, len(curve.labels), -len(curve.runs), -curve.repeats),
    )


def _named(model: SiteModel, place: Place, mode: str) -> list[Curve]:
    return [
        curve for curve in model.curves
        if curve.mode == mode and curve.placement == place.placement
        and place.mpi in (None, curve.mpi) and place.environ in (None, curve.environ)
        and place.partition in (None, curve.partition)
    ]  # fmt: skip


def _refuse(model: SiteModel, place: Place, mode: str) -> None:
    """Say which part of a place the model lacks."""
    tests: Sequence[tuple[str, Callable[[Curve], str | None], str | None]] = (
        ("placement", lambda curve: curve.placement, place.placement),
        ("MPI", lambda curve: curve.mpi, place.mpi),
        ("environment", lambda curve: curve.environ, place.environ),
        ("partition", lambda curve: curve.partition, place.partition),
        ("mode", lambda curve: curve.mode, mode),
    )
    left = model.curves
    for what, value_of, wanted in tests:
        if wanted is None:
            continue
        known = sorted({str(value_of(curve)) for curve in left})
        left = [curve for curve in left if value_of(curve) == wanted]
        if not left:
            raise InputError(
                model.source,
                f"has no {what} '{wanted}', only {', '.join(known)}; choose one of them, or"
                " measure it and fit again",
            )
