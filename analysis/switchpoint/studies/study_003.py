"""Study 003: schedules of the complete exchange."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from switchpoint.studies.claim import Claim
from switchpoint.studies.evidence import SAME, Evidence, Wanted, judge, ratio, slower
from switchpoint.studies.points import (
    Data,
    NotTestableError,
    Point,
    most_ranks,
    narrowed,
    not_oversubscribed,
    one_variant,
    point_of,
)
from switchpoint.studies.simulated_switch import blocked_at_the_head, groups_scale_better
from switchpoint.tables.units import size_text

_KERNEL = "alltoall"
_SHUFFLE, _GROUPS = "synchronous_shuffle", "group_shuffle"
_BY_MESSAGE = ("shift", "pairwise")
_SMALL_BYTES, _LARGE_BYTES = 1024, 64 * 1024

#: The study's figure.
_UTILISATION = 0.97
_ALMOST = 0.1

#: If all of this schedule's interval is below this part of what another one reaches, cores are not
#: what it lacks.
_CORES_SUFFICE = 0.9


def _reaches_the_bandwidth(data: Data) -> Iterator[Evidence]:
    """U = bytes that leave each node, over time and over the bandwidth of a stream of two ranks.

    Where each node has one rank it is the study's U = (p - 1) M / (T B).
    """
    rows = data.at(_KERNEL, mode=_SHUFFLE)
    rows = rows[rows["nodes"] > 1]
    best: Evidence | None = None
    lack = NotTestableError("no run of kernel alltoall between nodes")
    for placement, part in rows.groupby("placement"):
        try:
            found = _utilisation(data, str(placement), most_ranks(part))
        except NotTestableError as error:
            lack = error
            continue
        if best is None or found.value > best.value:
            best = found
    if best is None:
        raise lack
    # Where another schedule fills more of the same links, the cores are enough to fill them.
    others = shares(data)["value"].max()
    if not best.holds and rows["oversubscribed"].all() and not best.high < _CORES_SUFFICE * others:
        raise NotTestableError(
            f"there are more ranks than cores, and they reach {best.value:.0%} of the bandwidth",
            "use links slower than the cores, as in bench/exchange_links.py, or more cores",
        )
    yield best


def shares(data: Data) -> pd.DataFrame:
    """Return which share of a stream's bandwidth each schedule reaches with the longest messages.

    Returns
    -------
    DataFrame
        `placement`, `ranks`, `size_bytes`, `mode`, `value`, `low`, `high`; empty without a stream.
    """
    rows = []
    try:
        between = data.at(_KERNEL)
        between = between[between["nodes"] > 1]
    except NotTestableError:
        between = pd.DataFrame(columns=["placement", "mode"])
    for (placement, mode), group in between.groupby(["placement", "mode"]):
        part = most_ranks(group)
        try:
            found = _utilisation(data, str(placement), part)
        except NotTestableError:
            continue
        rows.append([placement, int(part["ranks"].max()), int(part["size_bytes"].max()), mode,
                     found.value, found.low, found.high])  # fmt: skip
    columns = ["placement", "ranks", "size_bytes", "mode", "value", "low", "high"]
    return pd.DataFrame(rows, columns=columns)


def _utilisation(data: Data, placement: str, rows: pd.DataFrame) -> Evidence:
    size = int(rows["size_bytes"].max())
    part = one_variant(rows[rows["size_bytes"] == size])
    ranks, nodes = int(part["ranks"].iloc[0]), int(part["nodes"].iloc[0])
    leaving = ranks // nodes * (ranks - ranks // nodes) * size
    streams = data.at("pingpong", mode="stream", placement=placement)
    largest = int(streams["size_bytes"].max())
    stream = point_of(streams[streams["size_bytes"] == largest], "pingpong stream")
    return judge(
        f"share of the bandwidth of a stream, {ranks} ranks on {nodes} nodes, {size_text(size)}, "
        f"{placement}",
        [stream, point_of(part, f"{_KERNEL} {_SHUFFLE} {placement}")],
        lambda m: leaving / m[:, 1] / (largest / m[:, 0]), Wanted(low=_UTILISATION),
    )  # fmt: skip


def _gains_when_short(data: Data) -> Iterator[Evidence]:
    for placement, rows in _between_nodes(data).groupby("placement"):
        size = _extreme(rows, small=True)
        for other in _BY_MESSAGE:
            yield slower(
                f"{other} over synchronous shuffle at {size_text(size)}, {placement}",
                _at(rows, other, size), _at(rows, _SHUFFLE, size), comparisons=4,
            )  # fmt: skip


def _by_message_for_long_only(data: Data) -> Iterator[Evidence]:
    for placement, rows in _between_nodes(data).groupby("placement"):
        for size, bound in (
            (_extreme(rows, small=True), Wanted(low=1 + _ALMOST)),
            (_extreme(rows, small=False), Wanted(high=1 + _ALMOST)),
        ):
            for mode in _BY_MESSAGE:
                yield judge(
                    f"{mode} over synchronous shuffle at {size_text(size)}, {placement}",
                    [_at(rows, mode, size), _at(rows, _SHUFFLE, size)], ratio, bound,
                    comparisons=8,
                )  # fmt: skip


def _blocked_at_the_head(data: Data) -> Iterator[Evidence]:
    """Measure where a run names such a switch; elsewhere a simulation decides."""
    rows = data.at(_KERNEL)
    if "switch" not in rows or not (rows["switch"] == "input_buffered").any():
        yield from blocked_at_the_head()
        return
    rows = rows[rows["switch"] == "input_buffered"]
    rows = most_ranks(rows)
    size = _extreme(rows, small=False)
    yield slower(
        f"synchronous over group shuffle at {size_text(size)}",
        _at(rows, _SHUFFLE, size), _at(rows, _GROUPS, size),
    )  # fmt: skip


def _groups_almost_as_good(data: Data) -> Iterator[Evidence]:
    for placement, rows in _between_nodes(data).groupby("placement"):
        size = _extreme(rows, small=False)
        yield judge(
            f"group over synchronous shuffle at {size_text(size)}, {placement}",
            [_at(rows, _GROUPS, size), _at(rows, _SHUFFLE, size)], ratio,
            Wanted(high=1 + _ALMOST),
        )  # fmt: skip


def _groups_scale_better(data: Data) -> Iterator[Evidence]:
    """Measure with two numbers of ranks that had a core each; without them a simulation decides."""
    rows = _between_nodes(data, oversubscribed=True)
    rows = rows[~rows["oversubscribed"].astype(bool)]
    counts = sorted(rows["ranks"].unique())
    if len(counts) < 2:
        yield groups_scale_better()
        return
    few, many = (rows[rows["ranks"] == count] for count in (counts[0], counts[-1]))
    size = _extreme(many, small=False)
    yield judge(
        f"group over synchronous shuffle, {counts[-1]} ranks over {counts[0]}, {size_text(size)}",
        [_at(part, mode, size) for part in (many, few) for mode in (_GROUPS, _SHUFFLE)],
        lambda m: m[:, 0] / m[:, 1] / (m[:, 2] / m[:, 3]), Wanted(high=1 - SAME),
    )  # fmt: skip


def _between_nodes(data: Data, oversubscribed: bool = False) -> pd.DataFrame:
    """Return runs between nodes with the most ranks that had a core each, or any runs."""
    rows = data.at(_KERNEL)
    rows = rows[rows["nodes"] > 1]
    if rows.empty:
        raise NotTestableError("no run of kernel alltoall between nodes")
    if oversubscribed:
        return rows
    rows = rows[rows["ranks"] > 2]
    if rows.empty:
        raise NotTestableError("two ranks have one peer each: all schedules are the same")
    return most_ranks(not_oversubscribed(rows))


def _extreme(rows: pd.DataFrame, *, small: bool) -> int:
    size = int(rows["size_bytes"].min() if small else rows["size_bytes"].max())
    if (size > _SMALL_BYTES) if small else (size < _LARGE_BYTES):
        bound = f"up to {size_text(_SMALL_BYTES)}" if small else f"from {size_text(_LARGE_BYTES)}"
        raise NotTestableError(f"no message of {bound} on")
    return size


def _at(rows: pd.DataFrame, mode: str, size_bytes: int) -> Point:
    wanted = {"mode": mode, "size_bytes": size_bytes}
    return point_of(narrowed(rows, f"kernel {_KERNEL}", wanted), f"{_KERNEL} {mode}")


CLAIMS = [
    Claim("003", 1, "synchronous shuffle reaches 97 % of the available bandwidth",
          _reaches_the_bandwidth,
          published="97 %"),
    Claim("003", 2, "synchronous shuffle is also better with short messages", _gains_when_short,
          published="considerable improvement"),
    Claim(
        "003", 3, "shift and pairwise are good for long messages and poor for short ones",
        _by_message_for_long_only,
    ),
    Claim(
        "003", 4, "on an input-buffered switch synchronous shuffle suffers head-of-line blocking",
        _blocked_at_the_head,
    ),
    Claim("003", 5, "group shuffle is almost as good as synchronous shuffle",
          _groups_almost_as_good,
          published="almost as good"),
    Claim("003", 6, "group shuffle scales better", _groups_scale_better),
]  # fmt: skip
