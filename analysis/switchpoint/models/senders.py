"""Finds what sending costs the sender, from broadcasts in which rank 0 sends to each rank in turn.

The record has the time of the first rank that ended, of the last one, and the mean. Of two ranks
the first one is the sender: its time is that of the call, PLogP's os(m) (Kielmann, Bal, Verstoep
2000). Of more ranks the mean shows whether messages to several receivers arrive one after another
or share the sender's link until all are there (max-min fairness; Bertsekas, Gallager 1992, 6.5.2).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from switchpoint.models.eager_limits import PLACE
from switchpoint.models.site_model import SendCall, Sender
from switchpoint.records.rank_layout import RankLayout, layout_of
from switchpoint.tables.columns import records, values_of
from switchpoint.tables.identity import CurveIdentity
from switchpoint.tables.measurements import Measurements

if TYPE_CHECKING:
    from switchpoint.records.footer import Footer

_KERNEL, _MODE = "broadcast", "repeated"


class _Point(NamedTuple):
    """Of one run: when the first rank and the last one ended, and the mean of all."""

    ranks: int
    size_bytes: int
    first_us: float
    mean_us: float
    last_us: float


def senders(measurements: Measurements) -> list[Sender]:
    """Return what is known of each placement's senders.

    Parameters
    ----------
    measurements
        Runs of one site; broadcasts by other ranks than one on each node do not count.
    """
    points: dict[tuple[Any, ...], list[_Point]] = defaultdict(list)
    runs: dict[tuple[Any, ...], list[str]] = defaultdict(list)
    table = measurements.runs
    table = table[(table["kernel"] == _KERNEL) & table["header"].notna()]
    for row in records(table[[*PLACE, "run_id"]], CurveIdentity):
        header, footer = measurements.facts(row["run_id"])
        found = list(_points(layout_of(header), footer))
        if found:
            key = values_of(row, PLACE)
            points[key] += found
            runs[key].append(row["run_id"])
    made = [_sender(key, sorted(runs[key]), points[key]) for key in sorted(points, key=str)]
    return [one for one in made if one.calls]


def _points(layout: RankLayout, footer: Footer | None) -> Iterator[_Point]:
    nodes = layout.nodes
    if footer is None or len(nodes) < 2 or len(set(nodes)) < len(nodes):
        return
    for point in footer.get("points", []):
        of_ranks: Mapping[str, Any] = point
        times: list[Any] = [of_ranks.get(f"rank_{which}_us") for which in ("min", "mean", "max")]
        if point["mode"] == _MODE and None not in times:
            yield _Point(len(nodes), point["size_bytes"], *times)


def _sender(key: tuple[Any, ...], runs: list[str], points: list[_Point]) -> Sender:
    by_size: dict[int, list[_Point]] = defaultdict(list)
    for point in points:
        by_size[point.size_bytes].append(point)
    calls: list[SendCall] = []
    in_order: list[int] = []
    shared: list[int] = []
    for size_bytes, own in sorted(by_size.items()):
        pairs = [point for point in own if point.ranks == 2]
        if not pairs:
            continue
        call_us = float(np.median([point.first_us for point in pairs]))
        alone_us = float(np.median([point.last_us for point in pairs]))
        if call_us <= 0:
            continue
        calls.append(SendCall(size_bytes=size_bytes, time_us=call_us))
        shares = [
            share for point in own if (share := _shared(point, call_us, alone_us)) is not None
        ]
        if shares:
            (shared if np.median(shares) > 1 / 2 else in_order).append(size_bytes)
    named = dict(zip(PLACE, key, strict=True))
    return Sender(**named, runs=runs, calls=calls, in_order_bytes=in_order, shared_bytes=shared)


def _shared(point: _Point, call_us: float, alone_us: float) -> float | None:
    """Return 0 if the receivers ended one after another, 1 if all ended with the last one.

    K receivers that end one after another, from `alone_us` to the last one, end in the middle of
    both on average.
    """
    receivers = point.ranks - 1
    between_us = point.last_us - alone_us
    if receivers < 2 or between_us <= 0:
        return None
    sender_us = min(receivers * call_us, point.last_us)
    mean_us = (point.ranks * point.mean_us - sender_us) / receivers
    return 1 - (point.last_us - mean_us) / (between_us / 2)
