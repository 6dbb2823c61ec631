"""Derives LogGP's parameters of each placement from its fitted curves of `send` and `stream`."""

from __future__ import annotations

from collections.abc import Iterable

from switchpoint.errors import InputError
from switchpoint.models.links import Link
from switchpoint.models.site_model import Curve, LogGP, Sender


def loggp_of(
    curves: Iterable[Curve], senders: Iterable[Sender] = ()
) -> tuple[list[LogGP], list[str]]:
    """Return the parameters of each placement where both curves are fitted.

    L and g are those of the shortest message, G is that of the longest in a stream, and o is the
    call of the shortest message that a sender was measured with.

    Returns
    -------
    tuple
        The parameters, and notes on placements without them.
    """
    fitted = [curve for curve in curves if curve.segments]
    overheads_us = {
        (one.partition, one.mpi, one.environ, one.placement): one.calls[0].time_us
        for one in senders
    }
    streams = {_place(curve): curve for curve in fitted if curve.mode == "stream"}
    found: list[LogGP] = []
    notes: list[str] = []
    for alone in fitted:
        stream = streams.get(_place(alone))
        if alone.mode != "send" or stream is None:
            continue
        shortest = max(curve.segments[0].first_size_bytes for curve in (alone, stream))
        try:
            cost = Link(alone, stream, None, "the model").cost(shortest)
        except InputError as error:
            notes.append(f"{alone.mpi or 'MPI'} has no LogGP parameters: {error.problem}")
            continue
        found.append(
            LogGP(
                partition=alone.partition, mpi=alone.mpi, environ=alone.environ,
                placement=alone.placement, latency_us=cost.latency_us,
                gap_us=cost.busy_us + cost.queued_bytes_us,
                gap_per_byte_us=stream.segments[-1].per_byte_us.value,
                overhead_us=overheads_us.get(
                    (alone.partition, alone.mpi, alone.environ, alone.placement)
                ),
                eager_last_size_bytes=alone.eager_last_size_bytes,
            )
        )  # fmt: skip
    return found, notes


def _place(curve: Curve) -> tuple[str | None, ...]:
    labels = {name: value for name, value in curve.labels.items() if name != "window_size"}
    return curve.partition, curve.mpi, curve.environ, curve.placement, str(sorted(labels.items()))
