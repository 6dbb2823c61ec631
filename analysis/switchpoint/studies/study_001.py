"""Study 001: ping-pong with MPI_Send and MPI_Ssend over four placements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from switchpoint.sites.placements import BUILT_IN
from switchpoint.studies.claim import Claim
from switchpoint.studies.evidence import (
    SAME,
    Evidence,
    Wanted,
    conclude,
    judge,
    resampled_rows,
    slower,
)
from switchpoint.studies.points import Data, NotTestableError, Point, narrowed, point_of
from switchpoint.tables.sweeps import Floats
from switchpoint.tables.units import size_text

_KERNEL = "pingpong"
_LATENCY_BYTES = 8
_SWITCH_BYTES = 64 * 1024
_SMALL_BYTES = 1024
_BETWEEN_NODES = ("two_nodes_one_host", "two_nodes_two_hosts")
_SWEEP = "make measure TAG=sweep"

#: The level of the study's shared memory, and the range that counts as "about".
_LEVEL_MBITPS = 40_000
_ABOUT = 0.25


def _ssend_slower(data: Data) -> Iterator[Evidence]:
    for placement in BUILT_IN:
        ssend, send = (
            data.point(_KERNEL, mode, _LATENCY_BYTES, placement=placement)
            for mode in ("ssend", "send")
        )
        what = f"Ssend over Send at 8 B, {placement}"
        yield slower(what, ssend, send, comparisons=len(BUILT_IN))


def _shared_memory_levels(data: Data) -> Iterator[Evidence]:
    """Compare the throughput before the jump at 64 KiB with that at half the size, and the level.

    In the study throughput stops rising there, and jumps after it.
    """
    points = _curve(data, "send", "one_node")
    before = [size for size in points if _SWITCH_BYTES / 2 <= size < _SWITCH_BYTES - 1024]
    if not before:
        raise NotTestableError("no size from 32 to 63 KiB on one_node", _SWEEP)
    largest = max(before)
    half = _nearest(points, largest / 2)
    pair = [points[half], points[largest]]
    yield judge(
        f"throughput at {size_text(largest)} over {size_text(half)}, one_node", pair,
        lambda m: m[:, 0] / half / (m[:, 1] / largest), Wanted(0.85, 1.15), comparisons=2,
    )  # fmt: skip
    yield judge(
        f"throughput at {size_text(largest)}, one_node", pair[1:],
        lambda m: 8 * largest / m[:, 0],
        Wanted(_LEVEL_MBITPS * (1 - _ABOUT), _LEVEL_MBITPS * (1 + _ABOUT)),
        unit="Mbit/s", comparisons=2,
    )  # fmt: skip


def _rises_at_64_kib(data: Data) -> Iterator[Evidence]:
    yield _jump(data, "one_node", Wanted(low=1 + SAME))


def _falls_at_64_kib(data: Data) -> Iterator[Evidence]:
    yield _jump(data, "one_node_network", Wanted(high=1 - SAME))


def _nothing_at_64_kib(data: Data) -> Iterator[Evidence]:
    for placement in _BETWEEN_NODES:
        yield _jump(data, placement, Wanted(1 - SAME, 1 + SAME), comparisons=2)


def _jump(data: Data, placement: str, wanted: Wanted, comparisons: int = 1) -> Evidence:
    """Compare the throughput at 64 KiB with the line through the three sizes before it."""
    points = _curve(data, "send", placement)
    before = sorted(size for size in points if _SWITCH_BYTES / 2 <= size < _SWITCH_BYTES)[-3:]
    if _SWITCH_BYTES not in points or len(before) < 3:
        raise NotTestableError(f"no sweep around 64 KiB on {placement}", _SWEEP)
    sizes = np.array(before, dtype=float)
    # Least squares as weights on the three times: linear, so one product is enough for all draws.
    design = np.stack([np.ones_like(sizes), sizes], axis=1)
    weights = np.array([1.0, _SWITCH_BYTES]) @ np.linalg.pinv(design)
    return judge(
        f"throughput at 64 KiB over the prediction from {size_text(before[0])} to "
        f"{size_text(before[-1])}, {placement}",
        [*(points[size] for size in before), points[_SWITCH_BYTES]],
        lambda m: (m[:, :-1] @ weights) / m[:, -1],
        wanted,
        comparisons=comparisons,
    )


def _one_host_slower(data: Data) -> Iterator[Evidence]:
    one, two = (_curve(data, "send", placement) for placement in _BETWEEN_NODES)
    sizes = [size for size in (_LATENCY_BYTES, _SWITCH_BYTES, 2**20) if size in one and size in two]
    for size in sizes:
        yield slower(
            f"one host over two hosts at {size_text(size)}", one[size], two[size],
            comparisons=len(sizes),
        )  # fmt: skip
    if len(sizes) < 2:
        raise NotTestableError("the two placements share fewer than two of the sizes", _SWEEP)


def _differ_where(data: Data) -> Iterator[Evidence]:
    """Compare through shared memory at small and large sizes, and over the network at each.

    Only whole octaves are compared, because more comparisons would need more launches.
    """
    for placement in ("one_node", "one_node_network"):
        ssend, send = (_curve(data, mode, placement) for mode in ("sstream", "stream"))
        sizes = sorted(size for size in set(ssend) & set(send) if size.bit_count() == 1)
        small = [size for size in sizes if size <= _SMALL_BYTES]
        large = [size for size in sizes if size >= _SWITCH_BYTES]
        if not small or not large:
            raise NotTestableError(f"no small and large sizes of both modes on {placement}", _SWEEP)
        differ, same = Wanted(low=1 + SAME), Wanted(1 - SAME, 1 + SAME)
        if placement == "one_node":
            wanted = [(small[0], differ), *((size, same) for size in large)]
        else:
            wanted = [(size, differ) for size in sizes]
        for size, bound in wanted:
            yield judge(
                f"streams of Ssend over Send at {size_text(size)}, {placement}",
                [ssend[size], send[size]], lambda m: m[:, 0] / m[:, 1], bound,
                comparisons=len(wanted),
            )  # fmt: skip


def _noise_largest_between_hosts(data: Data) -> Iterator[Evidence]:
    noise = _noise(data)
    for placement in BUILT_IN:
        narrowed(noise, f"kernel {_KERNEL}", {"placement": placement})
    table = noise.pivot_table(
        index="size_bytes", columns="placement", values="noise", aggfunc="median", observed=True
    )
    table = table[list(BUILT_IN)].dropna()
    if len(table) < 5:
        raise NotTestableError("fewer than five sizes on all placements", _SWEEP)

    def figure(rows: Floats) -> Floats:
        medians = np.median(rows, axis=1)
        return np.asarray(medians[:, -1] / medians[:, :-1].max(axis=1))

    assert BUILT_IN[-1] == "two_nodes_two_hosts"
    yield conclude(
        f"scatter between hosts over the next largest placement's, {len(table)} sizes",
        resampled_rows(table.to_numpy(), figure), Wanted(low=1 + SAME), _all_points(data),
    )  # fmt: skip


def _drop_by_load(data: Data) -> Iterator[Evidence]:
    """Compare the load in runs with a drop of throughput with runs without."""
    rows = data.at(_KERNEL, placement="two_nodes_one_host", mode="send")
    usual = rows.groupby("size_bytes")["time_us"].transform("median")
    drops = (rows["time_us"] / usual).gt(1.25).groupby(rows["run_id"]).any()
    if drops.sum() < 2 or (~drops).sum() < 2:
        raise NotTestableError(
            f"{int(drops.sum())} of {len(drops)} runs on one host show a drop of a quarter; two "
            "with and two without are needed to compare their load",
            "measure often on a machine that others use: make measure TAG=sweep",
        )
    load = _busy_before(data, rows).reindex(drops.index)
    with_drop, without = load[drops.to_numpy()], load[~drops.to_numpy()]
    points = [
        Point(name, part.rename_axis("run_id"))
        for name, part in (("with a drop", with_drop), ("without", without))
    ]
    yield judge(
        "load on the machine in runs with a drop, over runs without", points,
        lambda m: (0.01 + m[:, 0]) / (0.01 + m[:, 1]), Wanted(low=1.25),
    )  # fmt: skip


def _busy_before(data: Data, rows: pd.DataFrame) -> pd.Series[float]:
    """Load average at the start of each run."""
    runs = rows["run_id"].unique()
    load = [max(rank["before"]["load1"] for rank in data.header(run)["ranks"]) for run in runs]
    return pd.Series(load, index=runs, dtype=float)


def _longer_blocks_cut_noise(data: Data) -> Iterator[Evidence]:
    noise = _noise(data)
    plans = {run: data.header(run).get("plan", {}) for run in data.facts.index}
    blocks = {run: plan.get("block_time_us") for run, plan in plans.items()}
    noise = noise.assign(block_us=noise["run_id"].astype(str).map(blocks)).dropna()
    shortest, longest = noise["block_us"].min(), noise["block_us"].max()
    if not longest >= 5 * shortest:
        raise NotTestableError(
            "no two runs with block lengths that differ by a factor of five",
            "measure again with longer blocks: reframe ... -t sweep -S block_time_us=2000",
        )
    table = noise.pivot_table(
        index=["placement", "size_bytes"], columns="block_us", values="noise", observed=True
    )[[longest, shortest]].dropna()  # fmt: skip
    yield conclude(
        f"scatter with blocks of {longest:g} us over {shortest:g} us, {len(table)} points",
        resampled_rows(table.to_numpy(), lambda r: np.median(r[:, :, 0] / r[:, :, 1], axis=1)),
        Wanted(high=1 - SAME), _all_points(data),
    )  # fmt: skip


def _noise(data: Data) -> pd.DataFrame:
    """Relative median absolute deviation of the samples, per run and size of mode send."""
    data.at(_KERNEL, mode="send")
    curves = data.curves
    ours = curves[(curves["kernel"] == _KERNEL) & (curves["mode"] == "send")]
    return ours.assign(noise=ours["mad_us"] / ours["time_us"])


def _curve(data: Data, mode: str, placement: str) -> dict[int, Point]:
    """Points of a mode by size."""
    rows = data.at(_KERNEL, mode=mode, placement=placement)
    name = f"{_KERNEL} {mode} {placement}"
    return {int(str(size)): point_of(part, name) for size, part in rows.groupby("size_bytes")}


def _all_points(data: Data) -> Sequence[Point]:
    rows = data.at(_KERNEL, mode="send")
    return [Point("all", rows.groupby(["run_id", "pass"])["time_us"].median())]


def _nearest(sizes: dict[int, Point], wanted: float) -> int:
    return min(sizes, key=lambda size: abs(size - wanted))


CLAIMS = [
    Claim("001", 1, "MPI_Ssend is slower than MPI_Send in every placement", _ssend_slower,
          published="1.98, 2.41, 2.99 and 2.53"),
    Claim("001", 2, "before 64 KiB shared memory levels off, at about 40,000 Mbit/s",
          _shared_memory_levels,
          published="40,000 Mbit/s"),
    Claim("001", 3, "at exactly 64 KiB throughput rises through shared memory", _rises_at_64_kib),
    Claim("001", 4, "at exactly 64 KiB it falls over the forced network", _falls_at_64_kib),
    Claim("001", 5, "at exactly 64 KiB nothing changes between nodes", _nothing_at_64_kib),
    Claim("001", 6, "two nodes on one host are slower than on two hosts", _one_host_slower,
          published="152 us over 102 us: 1.48"),
    Claim(
        "001", 7,
        "Send and Ssend differ in throughput only at small sizes through shared memory, and "
        "at all sizes over the network", _differ_where,
    ),
    Claim("001", 8, "noise is largest between hosts", _noise_largest_between_hosts),
    Claim("001", 9, "a drop of throughput on one host comes from another user's load",
          _drop_by_load),
    Claim("001", 10, "longer blocks reduce the noise", _longer_blocks_cut_noise),
]  # fmt: skip
